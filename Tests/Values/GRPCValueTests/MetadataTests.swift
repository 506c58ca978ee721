import Foundation
import GRPCValueSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import Testing

/// The names and values that metadata accepts, and how names compare.
@Suite struct MetadataTests {
  @Test func `metadata is empty at first, and a copy does not change with the original`() throws {
    var first = RPCMetadata()
    #expect(first.isEmpty)
    try first.set("a", for: "X-Key")
    let second = first
    try first.append("b", for: "x-key")
    #expect(first.values(for: "X-KEY") == ["a", "b"] && second.values(for: "x-key") == ["a"])
    #expect(first["x-Key"] == "a" && first.map(\.name) == ["x-key", "x-key"])
    first.remove("X-key")
    #expect(first.isEmpty && second.count == 1)
  }

  @Test func `setting a name replaces all its values at the place of the first value`() throws {
    var metadata = try RPCMetadata(["a": "1", "b": "2", "A": "3"])
    try metadata.set("4", for: "A")
    let expected = try RPCMetadata(["a": "4", "b": "2"])
    #expect(metadata == expected)
  }

  @Test func `setting a valid value replaces a value that cannot be sent`() throws {
    var metadata = RPCMetadata()
    metadata["X-Key"] = "\n"
    metadata["x-bin"] = "text"
    #expect(metadata.isEmpty && metadata != RPCMetadata())
    try metadata.set("1", for: "x-key")
    try metadata.set(Data([1]), for: "X-Bin")
    var expected = try RPCMetadata(["x-key": "1"])
    try expected.set(Data([1]), for: "x-bin")
    #expect(metadata == expected)
  }

  @Test func `names that end in -bin accept only bytes, and other names accept only text`() throws {
    var metadata = RPCMetadata()
    let bytes = Data([0, 255, 10])
    try metadata.append(bytes, for: "X-Trace-Bin")
    try metadata.append(Data(), for: "x-trace-bin")
    #expect(metadata.bytes(for: "x-trace-bin") == [bytes, Data()])
    #expect(metadata["x-trace-bin"] == nil)
    rpcFailure(.invalidArgument) { try metadata.append("text", for: "x-trace-bin") }
    rpcFailure(.invalidArgument) { try metadata.append(bytes, for: "x-trace") }
  }

  @Test(arguments: [
    "", "a b", "a:b", ":path", "ä", "a\r\nb", "grpc-status", "grpc-timeout", "GRPC-anything",
    "te", "Content-Type", "content-length", "user-agent", "host", "connection", "a\u{0}",
    "transfer-encoding", "accept-encoding", "\u{212A}ey",
  ])
  func `a name that gRPC cannot send is rejected`(name: String) {
    var metadata = RPCMetadata()
    rpcFailure(.invalidArgument) { try metadata.set("value", for: name) }
    #expect(metadata.isEmpty)
  }

  @Test(arguments: [
    "C4N4RY\nb", "C4N4RY\r\nX: y", "\u{0}", "ä", " C4N4RY", "C4N4RY ", "\t", "\u{7F}",
  ])
  func `a value that gRPC cannot send is rejected, and the error has the name but not the value`(
    value: String
  ) {
    var metadata = RPCMetadata()
    let error = rpcFailure(.invalidArgument) { try metadata.set(value, for: "x-key") }
    #expect(metadata.isEmpty && error?.message.contains("x-key") == true)
    #expect(error?.message.contains("C4N4RY") == false)
    #expect(error?.message.contains(value) == false)
  }

  @Test
  func `a set token replaces any earlier authorization, and nil removes the authorization`() throws
  {
    var metadata = try RPCMetadata(["Authorization": "Basic x"])
    #expect(metadata.oauth2AccessToken == nil)
    try metadata.setOAuth2AccessToken("T1")
    try metadata.setOAuth2AccessToken("T2")
    #expect(metadata.values(for: "authorization") == ["Bearer T2"])
    #expect(metadata.oauth2AccessToken == "T2")
    try metadata.setOAuth2AccessToken(nil)
    #expect(metadata.isEmpty && metadata.oauth2AccessToken == nil)
  }

  @Test(arguments: ["", "C4N4RY b", "C4N4RY\r\nb", "C4N4RYä"])
  func `an invalid token is rejected, and the error does not contain it`(token: String) {
    var metadata = RPCMetadata()
    let error = rpcFailure(.invalidArgument) { try metadata.setOAuth2AccessToken(token) }
    #expect(metadata.isEmpty)
    #expect(error?.message.contains("C4N4RY") == false)
  }

  @Test func `metadata is read from header fields, without the fields that gRPC reserves`() {
    let metadata = RPCMetadata(fields: [
      "Content-Type": "application/grpc", "grpc-status": "0", "X-A": "1", "x-a": "2",
      "x-bin": "AAH/", "Y-Bin": "AA", "y-bin": "AA==", "z-bin": "AA,AQ==,,!", "grpc-detail": "d",
    ])
    #expect(metadata.values(for: "x-a") == ["1", "2"])
    #expect(metadata.bytes(for: "x-bin") == [Data([0, 1, 255])])
    #expect(metadata.bytes(for: "y-bin") == [Data([0]), Data([0])])
    #expect(metadata.bytes(for: "z-bin") == [Data([0]), Data([1]), Data()])
    #expect(metadata["content-type"] == nil && metadata["grpc-status"] == nil)
  }

  @Test func `printed metadata, call errors and credentials show no metadata value or token`()
    throws
  {
    var metadata = RPCMetadata()
    try metadata.setOAuth2AccessToken("c4n4ry")
    let error = RPCCallError(.unknown, "words", metadata: metadata)
    let credential = RPCCredential.accessToken("c4n4ry")
    for value in [metadata, metadata[0], metadata[0].value, error, credential] as [Any] {
      var texts = "\(value) \(String(reflecting: value))"
      dump(value, to: &texts)
      #expect(!texts.contains("c4n4ry"), "\(texts)")
    }
  }
}
