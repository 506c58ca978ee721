package main

import (
	"compress/gzip"
	"io"
	"sync"

	"github.com/golang/protobuf/proto"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // for requests
)

// compressed wraps a response that must be sent compressed.
type compressed struct{ proto.Message }

// marked has the addresses of the encoded messages that must be compressed. grpc-go itself decides
// only for all messages of a call, and passes a message's bytes unchanged from codec to compressor.
var marked sync.Map

// codec encodes with protobuf, and marks the messages to compress.
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

// compressor compresses the marked messages; if it writes nothing, a message is sent uncompressed.
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
