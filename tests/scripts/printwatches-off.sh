#!/bin/sh
printf 'printwatches off\nprintwatches\nls /\n' | zkCli.sh -server "$ZK" 2>/dev/null | tail -2
