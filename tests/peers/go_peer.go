// samuel/go-zookeeper's Lock as a peer; README.md beside this file describes the command line.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/samuel/go-zookeeper/zk"
)

const (
	sessionTimeout = 10 * time.Second
	spinBelow      = time.Millisecond
	clockMonotonic = 1
)

type silent struct{}

func (silent) Printf(string, ...interface{}) {}

// times are those of one round, in nanoseconds: asked, acquired, releasing, released.
type times [4]int64

func now() int64 {
	var at syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&at)), 0)
	return at.Nano()
}

func pause(since int64, hold time.Duration) {
	if hold >= spinBelow {
		time.Sleep(hold)
	}
	for now()-since < int64(hold) {
	}
}

func contend(lock *zk.Lock, rounds int, hold time.Duration) ([]times, error) {
	all := make([]times, rounds)
	for i := range all {
		one := &all[i]
		one[0] = now()
		if err := lock.Lock(); err != nil {
			return nil, err
		}
		one[1] = now()
		pause(one[1], hold)
		one[2] = now()
		if err := lock.Unlock(); err != nil {
			return nil, err
		}
		one[3] = now()
	}
	return all, nil
}

// run lets all contenders loop, one goroutine each, and gives their rounds.
func run(clients []*zk.Conn, path string, rounds int, hold time.Duration, contenders int) ([]times, error) {
	type outcome struct {
		all []times
		err error
	}
	start := make(chan struct{})
	outcomes := make(chan outcome)
	for i := 0; i < contenders; i++ {
		lock := zk.NewLock(clients[i%len(clients)], path, zk.WorldACL(zk.PermAll))
		go func() {
			<-start
			all, err := contend(lock, rounds, hold)
			outcomes <- outcome{all, err}
		}()
	}
	close(start)
	var report []times
	for i := 0; i < contenders; i++ {
		one := <-outcomes
		if one.err != nil {
			return nil, one.err
		}
		report = append(report, one.all...)
	}
	return report, nil
}

func runWords(clients []*zk.Conn, what []string) ([]times, error) {
	if what[1] != "mutex" {
		return nil, errors.New("go-zookeeper has no lock of kind " + what[1])
	}
	numbers := []int{0, 0, 1, 1} // rounds, microseconds, contenders, sessions
	for i, word := range what[2:] {
		number, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		numbers[i] = number
	}
	return run(clients, what[0], numbers[0], time.Duration(numbers[1])*time.Microsecond, numbers[2])
}

func converse(clients []*zk.Conn, what []string) error {
	fmt.Println("ready")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		if words := strings.Fields(input.Text()); len(words) > 1 {
			what = words[1:]
		}
		report, err := runWords(clients, what)
		if err != nil {
			return err
		}
		output := bufio.NewWriter(os.Stdout)
		for _, one := range report {
			fmt.Fprintln(output, one[0], one[1], one[2], one[3])
		}
		fmt.Fprintln(output, "done")
		output.Flush()
	}
	return input.Err()
}

func connect(servers string) (*zk.Conn, error) {
	client, events, err := zk.Connect(strings.Split(servers, ","), sessionTimeout, zk.WithLogger(silent{}))
	if err != nil {
		return nil, err
	}
	deadline := time.After(sessionTimeout)
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				return client, nil
			}
		case <-deadline:
			client.Close()
			return nil, errors.New("no connection to " + servers)
		}
	}
}

// serve opens the sessions, and closes them when the conversation ends.
func serve(words []string) error {
	sessions := 1
	if len(words) > 6 {
		number, err := strconv.Atoi(words[6])
		if err != nil {
			return err
		}
		sessions = number
	}
	var clients []*zk.Conn
	for i := 0; i < sessions; i++ {
		client, err := connect(words[0])
		if err != nil {
			return err
		}
		defer client.Close()
		clients = append(clients, client)
	}
	return converse(clients, words[1:])
}

func main() {
	if len(os.Args) < 6 || len(os.Args) > 8 {
		fmt.Fprintln(os.Stderr, "usage: go_peer CONNECT PATH KIND ROUNDS HOLD_US [CONTENDERS [SESSIONS]]")
		os.Exit(1)
	}
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
