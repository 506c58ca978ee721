import FoundationEssentials

@testable import SQBasics
@testable import SQHTTP2
@testable import SequencingOAuth
@testable import SequencingOAuthGRPC

extension Fuzzer {
  /// A fuzzer for the head and the trailers of a gRPC response, as lines.
  ///
  /// An empty line begins the trailers.
  static let answer = Fuzzer("grpc-answer") { input in
    let text = String(streamSafe: input)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let end = lines.firstIndex(of: "") ?? lines.count
    let (headers, trailers) = (fields(lines[..<end]), fields(lines[end...]))
    let secrets = CallSecrets(["authorization": "Bearer \(secret)"])
    for status in [200, 401, 503] {
      let head = RPCResponseHead(
        WebResponseHead(status: status, headers: headers), removing: secrets)
      try check(head, trailers)
    }
    try checkMetadata(headers)
    try checkCoding(of: text)
  }

  private static let secret = "s3cr3t-token"

  private static func fields(_ lines: ArraySlice<Substring>) -> HeaderFields {
    HeaderFields(
      lines.compactMap { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        // Like the transport, this removes the spaces in front of the value.
        let value = String(parts[1]).drop { $0 == " " }
        return HeaderFields.Field(name: String(parts[0]), value: String(value))
      })
  }

  private static func check(_ head: RPCResponseHead, _ trailers: HeaderFields) throws {
    let status = trailers["grpc-status"] ?? head.head.headers["grpc-status"]
    guard let error = head.failure(trailers) else {
      return try require(Int(status ?? "") == 0, "a call with status \(status ?? "") succeeded")
    }
    try require(
      error.status != .ok && error.status.isKnown, "a failed call has the status \(error.status)")
    try require(!error.message.contains(secret), "the message repeats a secret")
    let challenge = error.oauth2ChallengeHeader ?? ""
    try require(!challenge.contains(secret), "the challenge repeats a secret")
  }

  private static func checkMetadata(_ fields: HeaderFields) throws {
    let metadata = RPCMetadata(fields: fields)
    for entry in metadata {
      try require(entry.name == entry.name.lowercased(), "a name \(entry.name)")
      let isBinary = if case .bytes = entry.value { true } else { false }
      try require(
        isBinary == entry.name.hasSuffix("-bin"), "the name \(entry.name) does not fit its value")
    }
    var written = HeaderBlock()
    metadata.write(to: &written)
    let read = HeaderFields(
      written.fields.map { HeaderFields.Field(name: $0.name, value: $0.value) })
    try require(RPCMetadata(fields: read) == metadata, "metadata reads differently when written")
  }

  private static func checkCoding(of text: String) throws {
    let bytes = Data(text.utf8)
    let base64 = Base64.encode(bytes)
    try require(Base64.decode(base64) == bytes, "base64 comes back different")
    if let decoded = Base64.decode(text) {
      let again = Base64.decode(Base64.encode(decoded))
      try require(again == decoded, "base64 reads differently when written")
    }
    let digits = Array("0123456789ABCDEF")
    let encoded = text.utf8.map { "%\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    try require(PercentCoding.decode(encoded).hasSameBytes(as: text), "a message reads differently")
    if !text.utf8.contains(UInt8(ascii: "%")) {
      try require(PercentCoding.decode(text).hasSameBytes(as: text), "a plain message is changed")
    }
  }
}
