#!/bin/bash
# What commons-cli does to options and their values: pairs of quotes, =, dashes, clusters, repeats, a lone dash.
zkCli.sh -server "$ZK" 2>&1 <<'X'
create /n x
set -v 0 /n x
set -v "0" /n x
set -v '"0"' /n x
set -v -1 /n x
set -v "-1" /n x
set -v '"-1"' /n x
set -v 7 /n x
set -v '"7"' /n x
set -v -- /n x
set -v -s /n x
set -v -v /n x
set -v -s=1 /n x
set -v0 /n x
set -v=0 /n x
set -v=-1 /n x
set -v-1 /n x
set -sv0 /n x
set -sv=0 /n x
set -sv /n x
set --v=0 /n x
set --v /n x
set -v0 -v7 /n x
set -v7 -v0 /n x
set -v 7 -v 0 /n x
set -v 0 -s -s /n x
set -s -v 0 -- /n x
set -s -- -v 0 /n x
set - /n x
set - - /n x
set -- - /n x
set -v0=0 /n x
set -s= /n x
set -s=x /n x
set -S /n x
set -V 0 /n x
set --version=0 /n x
set /n x -v 0
set /n x -v
set /n -v 0 x
set /n -v '"0"' x
set -s /n -v0 x
set /n "-v" 0 x
set '-v' '-1' /n x
set /n -5
set /n "-5"
set /n -- -5
get /n
set /n - 
get /n
set /n --
set -- /n --
get /n
set /n -5x
set /n '"q"'
get /n
set /n -v=-1 -- '"q"'
get /n
set /n x=y
set /n -x=y
set /n =
get /n
set -v	-1 /n x
create /d x
delete -v 0 /d
create /d x
delete -v0 /d
create /d x
delete -v '"0"' /d
create /d x
delete -v -1 /d
create /d x
delete -v-1 /d
create /d x
delete -v '"-1"' /d
create /d x
delete -v -- /d
create /d x
delete -v -v /d
create /d x
delete -v-1= /d
create /d x
setAcl -v 0 /n world:anyone:cdrwa
setAcl /n world:anyone:cdrwa -v 0
setAcl -v '"0"' /n world:anyone:cdrwa
setAcl /n world:anyone:cdrwa -v '"0"'
setAcl -v -1 /n world:anyone:cdrwa
setAcl /n world:anyone:cdrwa -v -1
setAcl -v -s /n world:anyone:cdrwa
setAcl /n world:anyone:cdrwa -v -s
setAcl -v -R /n world:anyone:cdrwa
setAcl /n world:anyone:cdrwa -v -R
setAcl -v -- /n world:anyone:cdrwa
setAcl /n world:anyone:cdrwa -v --
setAcl -v -Rs /n world:anyone:cdrwa
setAcl /n world:anyone:cdrwa -v -Rs
setAcl -v -v /n world:anyone:cdrwa
setAcl /n world:anyone:cdrwa -v -v
setAcl -sR /n world:anyone:cdrwa
setAcl -Rv -1 /n world:anyone:cdrwa
setAcl -Rv-1 /n world:anyone:cdrwa
setAcl /n '"world:anyone:cdrwa"'
setAcl -- /n world:anyone:cdrwa
setAcl /n -world:anyone:r
getAcl -s=1 /n
getAcl -ss /n
getAcl --s /n
create -t 60000 /t150 x
create -t60000 /t150 x
create -t '"60000"' /t152 x
create -t'"60000"' /t152 x
create -t 60000s /t154 x
create -t60000s /t154 x
create -t "-1" /t158 x
create -t"-1" /t158 x
create -t -s /t162 x
create -t -e /t164 x
create -t =1 /t166 x
create -t=1 /t166 x
create -t -- /t168 x
create -t - /t170 x
create -se /q x
create -es /q x
create -sec /q x
create -c -e /q x
create -s -s /sq x
create -e=1 /q x
create /dash -x
create /dash -- -x
create -- /dash -x
get /dash
create /dash2 -
create /dash3 --
create /dash4 -1
create /dash5 '"-1"'
create /dash6 "-1"
ls /
create /eq a=b
create /eq2 -a=b
create -s /eqs- -- a=b
create /da x
create /da/b x
deleteall /da -b 2
deleteall /da
create /da x
deleteall -b2 /da
deleteall /da
create /da x
create /da/b x
deleteall /da -b '"2"'
deleteall /da
create /da x
deleteall -b'"2"' /da
deleteall /da
create /da x
create /da/b x
deleteall /da -b -1
deleteall /da
create /da x
deleteall -b-1 /da
deleteall /da
create /da x
create /da/b x
deleteall /da -b 0
deleteall /da
create /da x
deleteall -b0 /da
deleteall /da
create /da x
create /da/b x
deleteall /da -b "0"
deleteall /da
create /da x
deleteall -b"0" /da
deleteall /da
create /da x
create /da/b x
deleteall /da -b --
deleteall /da
create /da x
deleteall -b-- /da
deleteall /da
create /da x
create /da/b x
deleteall /da -b -
deleteall /da
create /da x
deleteall -b- /da
deleteall /da
create /da x
create /da/b x
deleteall /da -b -b
deleteall /da
create /da x
deleteall -b-b /da
deleteall /da
create /da x
create /da/b x
deleteall /da -b =2
deleteall /da
create /da x
deleteall -b=2 /da
deleteall /da
create /da x
create /da/b x
deleteall /da -b 2=
deleteall /da
create /da x
deleteall -b2= /da
deleteall /da
addWatch -m PERSISTENT /w
addWatch -mPERSISTENT /w
addWatch -m '"PERSISTENT"' /w
addWatch -m'"PERSISTENT"' /w
addWatch -m PERSISTENT_RECURSIVE /w
addWatch -mPERSISTENT_RECURSIVE /w
addWatch -m -m /w
addWatch -m-m /w
addWatch -m -- /w
addWatch -m-- /w
addWatch -m - /w
addWatch -m- /w
addWatch -m =PERSISTENT /w
addWatch -m=PERSISTENT /w
addWatch -m -PERSISTENT /w
addWatch -m-PERSISTENT /w
addWatch /w -m
addWatch -m PERSISTENT
addWatch /w /x
ls -sw=1 /n
ls -R -R /n
ls -Rs /n
ls -Rx /n
ls -- /n
ls -- -R
ls - 
ls -= /n
ls -s= /n
get -sw /n -s
get -w -- /n
get -- -s
stat -ww /n
stat -w=1 /n
stat -- /n
config -cs
config -c=1
config -x
config -- -c
sync -x
sync -- /n
sync /n -s
getEphemerals -x
X
zkCli.sh -server "$ZKHOST" 2>&1 <<'X'
setquota -n 5 /option-values/n
delquota -n /option-values/n
setquota -n5 /option-values/n
delquota /option-values/n
setquota -n '"5"' /option-values/n
delquota -n /option-values/n
setquota -n'"5"' /option-values/n
delquota /option-values/n
setquota -n -1 /option-values/n
delquota -n /option-values/n
setquota -n-1 /option-values/n
delquota /option-values/n
setquota -n 0 /option-values/n
delquota -n /option-values/n
setquota -n0 /option-values/n
delquota /option-values/n
setquota -n "5" /option-values/n
delquota -n /option-values/n
setquota -n"5" /option-values/n
delquota /option-values/n
setquota -n =5 /option-values/n
delquota -n /option-values/n
setquota -n=5 /option-values/n
delquota /option-values/n
setquota -n -n /option-values/n
delquota -n /option-values/n
setquota -n-n /option-values/n
delquota /option-values/n
setquota -n - /option-values/n
delquota -n /option-values/n
setquota -n- /option-values/n
delquota /option-values/n
setquota -n -- /option-values/n
delquota -n /option-values/n
setquota -n-- /option-values/n
delquota /option-values/n
delquota /option-values/n
delquota /option-values/n
delquota /option-values/n
delquota /option-values/n
delquota /option-values/n
delquota /option-values/n
delquota /option-values/n
delquota /option-values/n
delquota /option-values/n
setquota /option-values/n
setquota -n /option-values/n
setquota -n 5
setquota -n 5 -b 6 /option-values/n
setquota -nb 5 /option-values/n
setquota -n 5 -n 6 /option-values/n
setquota -n 5 -- /option-values/n
setquota -- -n 5 /option-values/n
delquota /option-values/n
delquota -n -b /option-values/n
delquota -nb /option-values/n
delquota -x /option-values/n
delquota -n=1 /option-values/n
delquota -n5 /option-values/n
delquota --n /option-values/n
X
zkCli.sh -server "$ZK" set -v '"7"' /n x; echo "status $?"
zkCli.sh -server "$ZK" set -v=-1 /n x; echo "status $?"
zkCli.sh -server "$ZK" set -v '"-1"' /n '"x"'; echo "status $?"
