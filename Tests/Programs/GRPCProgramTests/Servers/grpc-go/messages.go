package main

import "github.com/golang/protobuf/proto"

// The messages of gRPC's interoperability tests, with the fields that the tests use. The tags give
// the protobuf library the same information as a generated file.

type boolValue struct {
	Value bool `protobuf:"varint,1,opt,name=value,proto3"`
}

type echoStatus struct {
	Code    int32  `protobuf:"varint,1,opt,name=code,proto3"`
	Message string `protobuf:"bytes,2,opt,name=message,proto3"`
}

type payload struct {
	Body []byte `protobuf:"bytes,2,opt,name=body,proto3"`
}

type responseParameters struct {
	Size       int32      `protobuf:"varint,1,opt,name=size,proto3"`
	Compressed *boolValue `protobuf:"bytes,3,opt,name=compressed,proto3"`
}

type empty struct{}

type simpleRequest struct {
	ResponseSize       int32       `protobuf:"varint,2,opt,name=response_size,proto3"`
	Payload            *payload    `protobuf:"bytes,3,opt,name=payload,proto3"`
	FillUsername       bool        `protobuf:"varint,4,opt,name=fill_username,proto3"`
	FillOAuthScope     bool        `protobuf:"varint,5,opt,name=fill_oauth_scope,proto3"`
	ResponseCompressed *boolValue  `protobuf:"bytes,6,opt,name=response_compressed,proto3"`
	ResponseStatus     *echoStatus `protobuf:"bytes,7,opt,name=response_status,proto3"`
	ExpectCompressed   *boolValue  `protobuf:"bytes,8,opt,name=expect_compressed,proto3"`
}

type simpleResponse struct {
	Payload    *payload `protobuf:"bytes,1,opt,name=payload,proto3"`
	Username   string   `protobuf:"bytes,2,opt,name=username,proto3"`
	OAuthScope string   `protobuf:"bytes,3,opt,name=oauth_scope,proto3"`
}

type inputRequest struct {
	Payload          *payload   `protobuf:"bytes,1,opt,name=payload,proto3"`
	ExpectCompressed *boolValue `protobuf:"bytes,2,opt,name=expect_compressed,proto3"`
}

type inputResponse struct {
	AggregatedPayloadSize int32 `protobuf:"varint,1,opt,name=aggregated_payload_size,proto3"`
}

type outputRequest struct {
	ResponseParameters []*responseParameters `protobuf:"bytes,2,rep,name=response_parameters,proto3"`
	Payload            *payload              `protobuf:"bytes,3,opt,name=payload,proto3"`
	ResponseStatus     *echoStatus           `protobuf:"bytes,7,opt,name=response_status,proto3"`
}

type outputResponse struct {
	Payload *payload `protobuf:"bytes,1,opt,name=payload,proto3"`
}

func (m *boolValue) Reset()                  { *m = boolValue{} }
func (m *boolValue) String() string          { return proto.CompactTextString(m) }
func (*boolValue) ProtoMessage()             {}
func (m *echoStatus) Reset()                 { *m = echoStatus{} }
func (m *echoStatus) String() string         { return proto.CompactTextString(m) }
func (*echoStatus) ProtoMessage()            {}
func (m *payload) Reset()                    { *m = payload{} }
func (m *payload) String() string            { return proto.CompactTextString(m) }
func (*payload) ProtoMessage()               {}
func (m *responseParameters) Reset()         { *m = responseParameters{} }
func (m *responseParameters) String() string { return proto.CompactTextString(m) }
func (*responseParameters) ProtoMessage()    {}
func (m *empty) Reset()                      { *m = empty{} }
func (m *empty) String() string              { return proto.CompactTextString(m) }
func (*empty) ProtoMessage()                 {}
func (m *simpleRequest) Reset()              { *m = simpleRequest{} }
func (m *simpleRequest) String() string      { return proto.CompactTextString(m) }
func (*simpleRequest) ProtoMessage()         {}
func (m *simpleResponse) Reset()             { *m = simpleResponse{} }
func (m *simpleResponse) String() string     { return proto.CompactTextString(m) }
func (*simpleResponse) ProtoMessage()        {}
func (m *inputRequest) Reset()               { *m = inputRequest{} }
func (m *inputRequest) String() string       { return proto.CompactTextString(m) }
func (*inputRequest) ProtoMessage()          {}
func (m *inputResponse) Reset()              { *m = inputResponse{} }
func (m *inputResponse) String() string      { return proto.CompactTextString(m) }
func (*inputResponse) ProtoMessage()         {}
func (m *outputRequest) Reset()              { *m = outputRequest{} }
func (m *outputRequest) String() string      { return proto.CompactTextString(m) }
func (*outputRequest) ProtoMessage()         {}
func (m *outputResponse) Reset()             { *m = outputResponse{} }
func (m *outputResponse) String() string     { return proto.CompactTextString(m) }
func (*outputResponse) ProtoMessage()        {}
