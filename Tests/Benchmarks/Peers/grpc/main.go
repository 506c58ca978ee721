// Programs for the benchmarks: a gRPC server for all clients, and a client with
// google.golang.org/grpc that makes the same calls as the SDK.
//
// "serve" prints its port on a line and ends with its input. "call ADDRESS" reads lines
// "COUNT WIDTH" and answers each with a line: "ok NANOSECONDS FAILURES" or "error TEXT".
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
)

const method = "/grpc.testing.TestService/UnaryCall"

// raw is a codec that passes messages on as bytes.
type raw struct{}

func (raw) Marshal(message interface{}) ([]byte, error) { return *message.(*[]byte), nil }
func (raw) Unmarshal(data []byte, message interface{}) error {
	*message.(*[]byte) = data
	return nil
}
func (raw) Name() string { return "proto" }

// token is a credential of every call, even without TLS.
type token string

func (t token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(t)}, nil
}
func (token) RequireTransportSecurity() bool { return false }

func main() {
	encoding.RegisterCodec(raw{})
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		serve()
	case len(os.Args) == 3 && os.Args[1] == "call":
		call(os.Args[2])
	default:
		fmt.Println("error unknown command")
	}
}

// serve answers every call with its request.
func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println("error", err)
		return
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(
		func(_ interface{}, stream grpc.ServerStream) error {
			var message []byte
			if err := stream.RecvMsg(&message); err != nil {
				return err
			}
			return stream.SendMsg(&message)
		}))
	go server.Serve(listener)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin)
}

func call(address string) {
	connection, err := grpc.Dial(
		address, grpc.WithInsecure(), grpc.WithPerRPCCredentials(token("access")))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	defer connection.Close()
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var count, width int
		if _, err := fmt.Sscan(input.Text(), &count, &width); err != nil || width < 1 {
			fmt.Println("error", strings.ReplaceAll(input.Text(), "\n", " "))
			continue
		}
		var failures int64
		var group sync.WaitGroup
		start := time.Now()
		group.Add(width)
		for i := 0; i < width; i++ {
			go func() {
				defer group.Done()
				for j := 0; j < count/width; j++ {
					request := []byte{32, 1, 40, 1}
					var response []byte
					err := connection.Invoke(context.Background(), method, &request, &response)
					if err != nil || len(response) != len(request) {
						atomic.AddInt64(&failures, 1)
					}
				}
			}()
		}
		group.Wait()
		fmt.Printf("ok %d %d\n", time.Since(start).Nanoseconds(), failures)
	}
}
