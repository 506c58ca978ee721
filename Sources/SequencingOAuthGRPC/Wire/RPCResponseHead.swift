import SQBasics
import SequencingOAuth

/// The head of a gRPC response; it determines how to read the rest of the response.
struct RPCResponseHead {
  let head: WebResponseHead
  private let secrets: CallSecrets

  /// Wraps a head; the request's secrets are removed from the server's texts.
  init(_ head: WebResponseHead, removing secrets: CallSecrets) {
    self.head = head
    self.secrets = secrets
  }

  var hasMessages: Bool { head.hasMessages }

  /// Whether the head is the complete response: it contains the status or is not gRPC.
  ///
  /// If so, the server reads no further messages.
  var isWholeAnswer: Bool { !hasMessages || head.headers["grpc-status"] != nil }

  /// The name of the compression that compressed messages use, such as `gzip`.
  var encoding: String? { head.headers["grpc-encoding"] }

  var metadata: RPCMetadata { RPCMetadata(fields: head.headers, removing: secrets.sent) }

  func trailers(_ fields: HeaderFields) -> RPCMetadata {
    RPCMetadata(fields: fields, removing: secrets.sent)
  }

  /// Returns the metadata of the head and the trailers together.
  func metadata(with trailers: HeaderFields) -> RPCMetadata {
    metadata.merged(with: self.trailers(trailers))
  }

  /// Returns the error that the response reports; `nil` if the call succeeded.
  ///
  /// The status is in the trailers or, if the response has no messages, possibly in the head.
  func failure(_ trailers: HeaderFields) -> RPCCallError? {
    let last = trailers["grpc-status"]
    guard let text = last ?? head.headers["grpc-status"] else {
      return withoutStatus(metadata(with: trailers))
    }
    if text == "0" { return nil }
    let metadata = metadata(with: trailers)
    guard let number = Int(text), number != 0 else {
      return RPCCallError(
        .unknown, "the server sent a grpc-status that is not a number", metadata: metadata,
        isFromServer: true)
    }
    let status = RPCStatus(rawValue: number)
    let message = (last == nil ? head.headers : trailers)["grpc-message"]
    let words = secrets.sent.removed(from: PercentCoding.decode(message ?? ""))
    return RPCCallError(
      status.isKnown ? status : .unknown,
      status.isKnown ? words : "the server sent status \(number), unknown to gRPC: \(words)",
      metadata: metadata, isFromServer: true)
  }

  private func withoutStatus(_ metadata: RPCMetadata) -> RPCCallError {
    let status = HTTPMapping.status(ofHTTP: head.status)
    let message: String
    if head.status != 200 {
      message = "the server answered with HTTP status \(head.status) and no grpc-status"
    } else if hasMessages {
      message = "the server ended the call without a grpc-status"
    } else {
      message = "the server's response is not gRPC: its content type is not application/grpc"
    }
    return RPCCallError(status, message, metadata: metadata, isFromServer: true)
  }
}

extension WebResponseHead {
  /// Whether gRPC messages follow the head; after an HTTP error, a page may follow instead.
  var hasMessages: Bool {
    guard status == 200, let type = headers["content-type"] else { return false }
    if type == "application/grpc" { return true }
    let essence = MediaType.essence(of: type) ?? ""
    return essence == "application/grpc" || essence.hasPrefix("application/grpc+")
  }
}

/// The secrets that a call sends, collected only when a text from the server is used.
struct CallSecrets {
  private let fields: HeaderFields
  private let metadata: RPCMetadata

  init(_ fields: HeaderFields = [:], _ metadata: RPCMetadata = RPCMetadata()) {
    self.fields = fields
    self.metadata = metadata
  }

  var sent: SentSecrets { SentSecrets(texts) }

  var texts: [String] {
    fields.map(\.value) + metadata.values(for: "authorization")
      + [metadata.oauth2AccessToken ?? ""] + fields.map { $0.value.afterSpace }
  }
}

extension String {
  /// The text after the first space: the token in `Bearer T`.
  fileprivate var afterSpace: String {
    firstIndex(of: " ").map { String(self[index(after: $0)...]) } ?? ""
  }
}
