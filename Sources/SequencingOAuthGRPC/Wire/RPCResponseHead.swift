import SequencingOAuth

/// The head of a response, and what it says about the rest.
struct RPCResponseHead {
  let head: HTTPResponseHead
  private let secrets: SentSecrets

  /// Wraps a head; the secrets are those of the request, to remove them from the server's texts.
  init(_ head: HTTPResponseHead, removing secrets: SentSecrets) {
    self.head = head
    self.secrets = secrets
  }

  /// Whether messages follow; an HTTP error has a page instead.
  var hasMessages: Bool {
    guard head.status == 200, let type = head.headers["content-type"]?.lowercased() else {
      return false
    }
    return type == "application/grpc" || type.hasPrefix("application/grpc+")
      || type.hasPrefix("application/grpc;")
  }

  /// Whether the head is the whole response: it contains the status, or is not gRPC.
  ///
  /// Then the server reads no further message.
  var isWholeAnswer: Bool { !hasMessages || head.headers["grpc-status"] != nil }

  /// The compression method of the compressed messages.
  var encoding: String? { head.headers["grpc-encoding"] }

  var metadata: RPCMetadata { RPCMetadata(fields: head.headers, removing: secrets) }

  func trailers(_ fields: HTTPFields) -> RPCMetadata {
    RPCMetadata(fields: fields, removing: secrets)
  }

  /// The error that the trailers report; `nil` if the call succeeded.
  ///
  /// A response without messages may contain everything in its head.
  func failure(_ trailers: HTTPFields) -> RPCError? {
    let metadata = metadata.merged(with: self.trailers(trailers))
    let hasTrailers = trailers["grpc-status"] != nil
    guard let text = trailers["grpc-status"] ?? head.headers["grpc-status"] else {
      return withoutStatus(metadata)
    }
    guard let number = Int(text), number != 0 || text == "0" else {
      return RPCError(
        .unknown, "the server sent a grpc-status that is not a number", metadata: metadata,
        isFromServer: true)
    }
    if number == 0 { return nil }
    let status = RPCStatus(rawValue: number)
    let message = (hasTrailers ? trailers : head.headers)["grpc-message"]
    let words = secrets.removed(from: PercentCoding.decode(message ?? ""))
    return RPCError(
      status.isKnown ? status : .unknown,
      status.isKnown ? words : "the server sent status \(number), unknown to gRPC: \(words)",
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
      message = "the server's response is not gRPC: its content type is not application/grpc"
    }
    return RPCError(status, message, metadata: metadata, isFromServer: true)
  }
}
