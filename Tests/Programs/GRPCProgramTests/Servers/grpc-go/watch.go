package main

import (
	"context"
	"io"
	"net"
	"sync/atomic"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/stats"
)

// call has the method of a call and a fact about its last message.
type call struct {
	method string
	// isCompressed is whether the last message arrived compressed.
	isCompressed bool
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// watch prints what happens to connections and calls.
type watch struct{}

// connections is the number of connections so far, over all servers.
var connections int64

func (watch) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (watch) HandleConn(_ context.Context, event stats.ConnStats) {
	if _, isBegin := event.(*stats.ConnBegin); isBegin {
		say("CONNECTION", atomic.AddInt64(&connections, 1))
	}
}

func (watch) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, callKey{}, &call{method: info.FullMethodName})
}

func (watch) HandleRPC(ctx context.Context, event stats.RPCStats) {
	call := callOf(ctx)
	switch event := event.(type) {
	case *stats.InHeader:
		say("CALL", call.method)
	case *stats.InPayload:
		// Each message is preceded by a flag and its length: five bytes.
		call.isCompressed = event.WireLength != event.Length+5
	case *stats.End:
		say("ENDED", call.method)
	}
}

// pingWatch passes bytes on, and copies them to the counter of pings.
type pingWatch struct {
	net.Conn
	copy *io.PipeWriter
}

// watchPings returns a connection that prints PING, its number and the ping's for each ping.
func watchPings(connection net.Conn, number int) net.Conn {
	reader, writer := io.Pipe()
	go func() {
		// The connection must never wait for the counter.
		defer io.Copy(io.Discard, reader)
		if _, err := io.CopyN(io.Discard, reader, int64(len(http2.ClientPreface))); err != nil {
			return
		}
		framer := http2.NewFramer(io.Discard, reader)
		for pings := 0; ; {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if ping, isPing := frame.(*http2.PingFrame); isPing && !ping.IsAck() {
				pings++
				say("PING", number, pings)
			}
		}
	}()
	return pingWatch{connection, writer}
}

func (watch pingWatch) Read(buffer []byte) (int, error) {
	count, err := watch.Conn.Read(buffer)
	watch.copy.Write(buffer[:count])
	if err != nil {
		watch.copy.CloseWithError(err)
	}
	return count, err
}
