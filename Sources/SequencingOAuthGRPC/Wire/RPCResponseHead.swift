import SequencingOAuth

/// What the head of an answer tells about what follows.
struct RPCResponseHead {
  let head: HTTPResponseHead
  private let secrets: SentSecrets

  /// Takes a head; the secrets are what the request held.
  init(_ head: HTTPResponseHead, removing secrets: SentSecrets) {
    self.head = head
    self.secrets = secrets
  }

  /// Whether messages follow: HTTP's own errors have pages.
  var hasMessages: Bool {
    guard head.status == 200, let type = head.headers["content-type"]?.lowercased() else {
      return false
    }
    return type == "application/grpc" || type.hasPrefix("application/grpc+")
      || type.hasPrefix("application/grpc;")
  }

  /// Whether the server reads nothing further: it has said how the call ended, or is no gRPC server.
  var isWholeAnswer: Bool { !hasMessages || head.headers["grpc-status"] != nil }

  /// How compressed messages are compressed.
  var encoding: String? { head.headers["grpc-encoding"] }

  var metadata: RPCMetadata { RPCMetadata(fields: head.headers, removing: secrets) }

  func trailers(_ fields: HTTPFields) -> RPCMetadata {
    RPCMetadata(fields: fields, removing: secrets)
  }

  /// Whether messages came and no word on how the call ended.
  func lacksStatus(_ trailers: HTTPFields) -> Bool {
    hasMessages && trailers["grpc-status"] == nil && head.headers["grpc-status"] == nil
  }

  /// Why the call failed, by what stands behind the messages; `nil` where it did not.
  ///
  /// An answer without messages may have everything in its head.
  func failure(_ trailers: HTTPFields) -> RPCError? {
    let metadata = metadata.merged(with: self.trailers(trailers))
    let hasTrailers = trailers["grpc-status"] != nil
    guard let text = trailers["grpc-status"] ?? head.headers["grpc-status"] else {
      return withoutStatus(metadata)
    }
    guard let number = Int(text), number != 0 || text == "0" else {
      return RPCError(
        .unknown, "the server sent a grpc-status that is no number", metadata: metadata,
        isFromServer: true)
    }
    if number == 0 { return nil }
    let status = RPCStatus(rawValue: number)
    let message = (hasTrailers ? trailers : head.headers)["grpc-message"]
    let words = secrets.removed(from: PercentCoding.decode(message ?? ""))
    return RPCError(
      status.isKnown ? status : .unknown,
      status.isKnown ? words : "status \(number), which gRPC does not have: \(words)",
      metadata: metadata, isFromServer: true)
  }

  private func withoutStatus(_ metadata: RPCMetadata) -> RPCError {
    let status = HTTPMapping.status(ofHTTP: head.status)
    let message: String
    if head.status != 200 {
      message = "the server answered with HTTP status \(head.status) and no grpc-status"
    } else if hasMessages {
      message = "the server ended the call without a grpc-status"
    } else {
      message = "the server's answer is not gRPC by its content type"
    }
    return RPCError(status, message, metadata: metadata, isFromServer: true)
  }
}
