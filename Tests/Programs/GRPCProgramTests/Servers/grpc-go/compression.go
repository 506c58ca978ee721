package main

import (
	"compress/gzip"
	"io"
	"sync"

	"github.com/golang/protobuf/proto"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // for requests
)

// compressed wraps a response that is to be compressed.
type compressed struct{ proto.Message }

// marked has the first bytes of the encoded messages that are to be compressed. grpc-go decides for
// all messages of a call, and passes a message's bytes from the codec to the compressor as they are.
var marked sync.Map

// codec is protobuf.
type codec struct{}

func init() { encoding.RegisterCodec(codec{}) }

func (codec) Name() string { return "proto" }

func (codec) Unmarshal(data []byte, message interface{}) error {
	return proto.Unmarshal(data, message.(proto.Message))
}

func (codec) Marshal(message interface{}) ([]byte, error) {
	wrapped, isCompressed := message.(compressed)
	if !isCompressed {
		return proto.Marshal(message.(proto.Message))
	}
	data, err := proto.Marshal(wrapped.Message)
	if len(data) > 0 {
		marked.Store(&data[0], true)
	}
	return data, err
}

// compressor compresses the marked messages; if it writes nothing, a message is sent as it is.
type compressor struct{}

func (compressor) Type() string { return "gzip" }

func (compressor) Do(out io.Writer, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if _, isMarked := marked.LoadAndDelete(&data[0]); !isMarked {
		return nil
	}
	writer := gzip.NewWriter(out)
	if _, err := writer.Write(data); err != nil {
		return err
	}
	return writer.Close()
}
