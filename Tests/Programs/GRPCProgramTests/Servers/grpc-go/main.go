// A server for gRPC's interoperability tests, on google.golang.org/grpc.
//
// It serves on a free port of 127.0.0.1 until its standard input ends. It prints PORT= when it is
// ready, CONNECTION and its number for each connection, and CALL and ENDED with the method for each
// call.
//
//	--tls CERTIFICATE KEY   serve over TLS with these PEM files
//	--userinfo URL          get a token's user there (GET with the token; JSON user_name, scope)
//	--streams N             at most N calls at a time on a connection
//	--limit N               messages of at most N bytes
//	--age MS                connections of at most this age, in milliseconds
//	--grace MS              the time for calls on a connection that is too old; default: no limit
//	--pings MS              at most one ping in this time; print PING, connection and number for each
//
// SIGUSR1 ends the server as a deployment does: it prints CLOSED when its port is closed, and
// STOPPED when the open calls have ended. SIGUSR2 starts another server on the same port. SIGHUP
// makes it print MARK and a number, counted from 1, after all earlier output.
package main

import (
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
)

var settings struct {
	certificate, key, userInfo string
	streams, limit             int
	age, grace, pings          time.Duration
}

var printing sync.Mutex

func say(words ...interface{}) {
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(words...)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// readSettings reads the command line.
func readSettings(words []string) {
	next := func() string {
		if len(words) == 0 {
			check(fmt.Errorf("the last option lacks a value"))
		}
		word := words[0]
		words = words[1:]
		return word
	}
	number := func() int {
		value, err := strconv.Atoi(next())
		check(err)
		return value
	}
	milliseconds := func() time.Duration { return time.Duration(number()) * time.Millisecond }
	settings.grace = math.MaxInt64
	for len(words) > 0 {
		switch option := next(); option {
		case "--tls":
			settings.certificate, settings.key = next(), next()
		case "--userinfo":
			settings.userInfo = next()
		case "--streams":
			settings.streams = number()
		case "--limit":
			settings.limit = number()
		case "--age":
			settings.age = milliseconds()
		case "--grace":
			settings.grace = milliseconds()
		case "--pings":
			settings.pings = milliseconds()
		default:
			check(fmt.Errorf("unknown option %s", option))
		}
	}
}

func options() []grpc.ServerOption {
	options := []grpc.ServerOption{grpc.StatsHandler(watch{}), grpc.RPCCompressor(compressor{})}
	if settings.certificate != "" {
		tls, err := credentials.NewServerTLSFromFile(settings.certificate, settings.key)
		check(err)
		options = append(options, grpc.Creds(tls))
	}
	if settings.streams > 0 {
		options = append(options, grpc.MaxConcurrentStreams(uint32(settings.streams)))
	}
	if settings.limit > 0 {
		options = append(
			options, grpc.MaxRecvMsgSize(settings.limit), grpc.MaxSendMsgSize(settings.limit))
	}
	if settings.age > 0 {
		options = append(options, grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionAge: settings.age, MaxConnectionAgeGrace: settings.grace}))
	}
	if settings.pings > 0 {
		options = append(options, grpc.KeepaliveEnforcementPolicy(
			keepalive.EnforcementPolicy{MinTime: settings.pings}))
	}
	return options
}

// listener prints when it is closed.
type listener struct {
	net.Listener
	once   sync.Once
	closed chan struct{}
	number int
}

func (l *listener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil || settings.pings == 0 {
		return connection, err
	}
	l.number++
	return watchPings(connection, l.number), nil
}

func (l *listener) Close() error {
	err := l.Listener.Close()
	l.once.Do(func() {
		say("CLOSED")
		close(l.closed)
	})
	return err
}

// holdPort binds a free port without listening. No other program gets it between two servers.
func holdPort() int {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	check(err)
	check(syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	check(syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	address, err := syscall.Getsockname(socket)
	check(err)
	return address.(*syscall.SockaddrInet4).Port
}

func start(port int) (*grpc.Server, *listener) {
	inner, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	check(err)
	listener := &listener{Listener: inner, closed: make(chan struct{})}
	server := grpc.NewServer(options()...)
	server.RegisterService(&service, struct{}{})
	go server.Serve(listener)
	say(fmt.Sprintf("PORT=%d", port))
	return server, listener
}

func main() {
	readSettings(os.Args[1:])
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	port := holdPort()
	server, listener := start(port)
	marks := 0
	for signal := range signals {
		switch signal {
		case syscall.SIGUSR1:
			go func(server *grpc.Server) {
				server.GracefulStop()
				say("STOPPED")
			}(server)
		case syscall.SIGUSR2:
			<-listener.closed
			server, listener = start(port)
		case syscall.SIGHUP:
			marks++
			say("MARK", marks)
		}
	}
}
