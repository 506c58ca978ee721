import SQBasics
import SQFoundation
import SequencingOAuth

/// The URL of a pipe and the URLs of its records.
struct PipeAddress: Sendable, Redacted {
  /// The server of the pipe and of its records.
  let origin: ResourceOrigin
  /// The URL before the query, without a slash at the end.
  private let path: String
  /// The part of the endpoint after its `?`; empty if there is none.
  private let query: String

  /// Returns the base URL without a slash at the end; throws if it is invalid or has a query.
  static func checkedBase(_ text: String) throws(SQOAuthError) -> URL {
    let url = try EndpointURL.check(text, name: "pipeline's base URL")
    guard !text.contains("?") else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the pipeline's base URL has a query; put the query into the endpoint of a pipe")
    }
    guard text.hasSuffix("/") else { return url }
    return try checkedBase(String(text.dropLast()))
  }

  init(base: URL, endpoint: String) throws(SQOAuthError) {
    let parts = endpoint.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let segments = parts[0].split(separator: "/")
    path = ([base.absoluteString] + segments.map(String.init)).joined(separator: "/")
    query = parts.count > 1 ? String(parts[1]) : ""
    origin = try ResourceOrigin(base)
    let isRelative =
      !endpoint.contains("://") && !endpoint.hasPrefix("//") && !endpoint.contains("#")
    guard isRelative, !segments.contains(where: Self.isDots), (try? RequestTarget(text: url)) != nil
    else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the endpoint of a pipe must be a percent-encoded path below the base URL, such as files "
          + "or v2/files")
    }
  }

  private var url: String { query.isEmpty ? path : "\(path)?\(query)" }

  /// Returns the URL of the pipe or, with an id, of a record.
  ///
  /// - Throws: `SQOAuthError.Code.malformedRequest` if the id is empty, `.` or `..`.
  func url(id: String?, _ parameters: [String: String]) throws(SQOAuthError) -> URL {
    var text = path
    if let id {
      // A segment of dots would change the path, even if the dots are percent-encoded.
      guard !id.isEmpty, !Self.isDots(Substring(id)) else {
        throw SQOAuthError(
          .malformedRequest,
          "a record's id is empty, or a segment such as \"..\" that changes the path; nothing was "
            + "sent")
      }
      text += "/" + FormCoding.encodePathSegment(id)
    }
    let pairs = parameters.sorted { $0.key < $1.key }.map { FormCoding.Pair($0.key, $0.value) }
    let queries = [query, FormCoding.encodeQuery(pairs)].filter { !$0.isEmpty }
    if !queries.isEmpty { text += "?" + queries.joined(separator: "&") }
    guard let url = URL(string: text) else {
      throw SQOAuthError(.malformedRequest, "the record's URL is malformed; nothing was sent")
    }
    return url
  }

  private static func isDots(_ segment: Substring) -> Bool {
    var rest = segment.utf8
    var dots = 0
    while let byte = rest.first {
      let isEncoded = byte == UInt8(ascii: "%")
      let isDot = isEncoded ? Substring(rest.prefix(3)).asciiLowercased() == "%2e" : byte == 0x2E
      guard isDot else { return false }
      rest = rest.dropFirst(isEncoded ? 3 : 1)
      dots += 1
    }
    return dots == 1 || dots == 2
  }
}
