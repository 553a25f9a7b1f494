#!/bin/sh
# Printwatches off, as scripts do it.
printf 'printwatches off\nprintwatches\nls /\n' | zkCli.sh -server "$ZK" 2>/dev/null | tail -2
