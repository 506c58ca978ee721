package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/golang/protobuf/proto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

var service = grpc.ServiceDesc{
	ServiceName: "grpc.testing.TestService",
	HandlerType: (*interface{})(nil),
	Methods: []grpc.MethodDesc{
		{MethodName: "EmptyCall", Handler: emptyCall},
		{MethodName: "UnaryCall", Handler: unaryCall},
	},
	Streams: []grpc.StreamDesc{
		{StreamName: "StreamingOutputCall", Handler: streamingOutputCall, ServerStreams: true},
		{StreamName: "StreamingInputCall", Handler: streamingInputCall, ClientStreams: true},
		{StreamName: "FullDuplexCall", Handler: fullDuplexCall, ServerStreams: true, ClientStreams: true},
	},
}

func emptyCall(
	_ interface{}, _ context.Context, decode func(interface{}) error, _ grpc.UnaryServerInterceptor,
) (interface{}, error) {
	var request empty
	return &empty{}, decode(&request)
}

func unaryCall(
	_ interface{}, ctx context.Context, decode func(interface{}) error, _ grpc.UnaryServerInterceptor,
) (interface{}, error) {
	var request simpleRequest
	if err := decode(&request); err != nil {
		return nil, err
	}
	if err := checkCompression(ctx, request.ExpectCompressed); err != nil {
		return nil, err
	}
	if err := echoMetadata(ctx); err != nil {
		return nil, err
	}
	if err := request.ResponseStatus.err(); err != nil {
		return nil, err
	}
	response := simpleResponse{Payload: zeros(request.ResponseSize)}
	if request.FillUsername || request.FillOAuthScope {
		me, err := account(ctx)
		if err != nil {
			return nil, err
		}
		if request.FillUsername {
			response.Username = me.Username
		}
		if request.FillOAuthScope {
			response.OAuthScope = me.Scope
		}
	}
	return request.ResponseCompressed.wrap(&response), nil
}

func streamingOutputCall(_ interface{}, stream grpc.ServerStream) error {
	var request outputRequest
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	return respond(stream, &request)
}

func streamingInputCall(_ interface{}, stream grpc.ServerStream) error {
	size := 0
	for {
		var request inputRequest
		if err := stream.RecvMsg(&request); err == io.EOF {
			return stream.SendMsg(&inputResponse{AggregatedPayloadSize: int32(size)})
		} else if err != nil {
			return err
		}
		if err := checkCompression(stream.Context(), request.ExpectCompressed); err != nil {
			return err
		}
		if request.Payload != nil {
			size += len(request.Payload.Body)
		}
	}
}

func fullDuplexCall(_ interface{}, stream grpc.ServerStream) error {
	if err := echoMetadata(stream.Context()); err != nil {
		return err
	}
	for {
		var request outputRequest
		if err := stream.RecvMsg(&request); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := request.ResponseStatus.err(); err != nil {
			return err
		}
		if err := respond(stream, &request); err != nil {
			return err
		}
	}
}

func respond(stream grpc.ServerStream, request *outputRequest) error {
	for _, parameters := range request.ResponseParameters {
		response := outputResponse{Payload: zeros(parameters.Size)}
		if err := stream.SendMsg(parameters.Compressed.wrap(&response)); err != nil {
			return err
		}
	}
	return nil
}

func zeros(size int32) *payload { return &payload{Body: make([]byte, size)} }

// wrap returns the response to send, marked for compression if the field says so.
func (value *boolValue) wrap(response proto.Message) interface{} {
	if value != nil && value.Value {
		return compressed{response}
	}
	return response
}

// err returns the status that must end the call, if it is not OK.
func (wanted *echoStatus) err() error {
	if wanted == nil || wanted.Code == 0 {
		return nil
	}
	return status.Error(codes.Code(wanted.Code), wanted.Message)
}

// checkCompression rejects a message whose compression differs from what it says.
func checkCompression(ctx context.Context, expected *boolValue) error {
	if expected == nil || expected.Value == callOf(ctx).isCompressed {
		return nil
	}
	return status.Errorf(
		codes.InvalidArgument, "compressed: %v, unlike what the message says", callOf(ctx).isCompressed)
}

func echoMetadata(ctx context.Context) error {
	received, _ := metadata.FromIncomingContext(ctx)
	const initial, trailing = "x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin"
	if values := received.Get(initial); len(values) > 0 {
		if err := grpc.SetHeader(ctx, metadata.MD{initial: values}); err != nil {
			return err
		}
	}
	if values := received.Get(trailing); len(values) > 0 {
		return grpc.SetTrailer(ctx, metadata.MD{trailing: values})
	}
	return nil
}

type user struct {
	Username string `json:"user_name"`
	Scope    string `json:"scope"`
}

var client = http.Client{Transport: &http.Transport{}}

// account gets the user of the call's token.
func account(ctx context.Context) (me user, err error) {
	received, _ := metadata.FromIncomingContext(ctx)
	values := received.Get("authorization")
	if len(values) != 1 {
		return me, status.Error(codes.Unauthenticated, "the call has no token, or several")
	}
	request, err := http.NewRequestWithContext(ctx, "GET", settings.userInfo, nil)
	if err != nil {
		return me, err
	}
	request.Header.Set("Authorization", values[0])
	answer, err := client.Do(request)
	if err != nil {
		return me, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		challenge := metadata.MD{"www-authenticate": answer.Header.Values("WWW-Authenticate")}
		if err := grpc.SetTrailer(ctx, challenge); err != nil {
			return me, err
		}
		return me, status.Error(codes.Unauthenticated, "the token is not valid")
	}
	return me, json.NewDecoder(answer.Body).Decode(&me)
}
