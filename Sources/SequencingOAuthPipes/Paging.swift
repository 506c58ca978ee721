import SQBasics
import SQFoundation
import SequencingOAuth

/// The way an API's response names the next and the previous page.
public struct Paging: Sendable, Hashable {
  private enum Place: Hashable {
    case linkHeader
    case headers
    case body
    case token(parameter: String)
  }

  private let place: Place
  private let next: String
  private let previous: String

  /// Returns the style for page URLs in a `Link` field, under the given relations.
  ///
  /// - SeeAlso: RFC 8288
  public static func linkHeader(next: String = "next", previous: String = "prev") -> Paging {
    Paging(place: .linkHeader, next: next, previous: previous)
  }

  /// The style for page URLs in a `Link` field, under the relations `next` and `prev`.
  ///
  /// - SeeAlso: RFC 8288
  public static var linkHeader: Paging { linkHeader() }

  /// Returns the style for page URLs in two header fields with the given names.
  public static func headers(next: String = "next", previous: String = "previous") -> Paging {
    Paging(place: .headers, next: next, previous: previous)
  }

  /// Returns the style for page URLs in two members of the JSON body.
  ///
  /// Name a member by its path, such as `paging.next`.
  public static func body(next: String = "next", previous: String = "previous") -> Paging {
    Paging(place: .body, next: next, previous: previous)
  }

  /// Returns the style for page tokens in members of the JSON body.
  ///
  /// The request for another page sends the page token in a query parameter. For Google's APIs, use
  /// `.tokens(next: "nextPageToken", parameter: "pageToken")`.
  public static func tokens(
    next: String, previous: String = "", parameter: String
  ) -> Paging {
    Paging(place: .token(parameter: parameter), next: next, previous: previous)
  }

  /// Returns the URLs of the next and the previous page, from the response for `url`.
  func neighbours(
    of response: WebResponse, _ json: JSONValue?, at url: URL
  ) -> (next: URL?, previous: URL?) {
    let texts = texts(in: response, json)
    return (
      texts.next.flatMap { self.url($0, at: url) }, texts.previous.flatMap { self.url($0, at: url) }
    )
  }

  /// Returns the texts in the response that name the next and the previous page.
  private func texts(
    in response: WebResponse, _ json: JSONValue?
  ) -> (next: String?, previous: String?) {
    switch place {
    case .linkHeader:
      let links = LinkHeader.links(in: response.headers.values(for: "Link"))
      return (links[next.asciiLowercased()], links[previous.asciiLowercased()])
    case .headers:
      return (response.headers[next], response.headers[previous])
    case .body, .token:
      return (
        json?.text(at: next, in: response.body), json?.text(at: previous, in: response.body)
      )
    }
  }

  private func url(_ text: String, at page: URL) -> URL? {
    if case .token(let parameter) = place { return page.setting(parameter, to: text) }
    return text.url(from: page)
  }
}

extension String {
  /// Returns the URL of this reference, relative to a page; `nil` if the reference is empty.
  ///
  /// An access token in the reference's query is removed.
  fileprivate func url(from page: URL) -> URL? {
    isEmpty ? nil : URL(string: self, relativeTo: page)?.absoluteURL.withoutToken
  }
}

extension URL {
  /// Returns this URL with a query parameter set to a value.
  fileprivate func setting(_ name: String, to value: String) -> URL? {
    replacing(name, by: [Substring(FormCoding.encodeQuery([FormCoding.Pair(name, value)]))])
  }

  /// This URL without an access token in its query.
  ///
  /// Some APIs write the request's token into their links. Such a token would be visible in logs,
  /// and a request must not carry a second token (RFC 6750, section 2).
  fileprivate var withoutToken: URL? {
    absoluteString.contains("access_token=") ? replacing("access_token", by: []) : self
  }

  private func replacing(_ name: String, by pairs: [Substring]) -> URL? {
    let parts = absoluteString.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let prefix = FormCoding.encodeValue(name) + "="
    let others = (parts.count > 1 ? parts[1] : "").split(separator: "&")
      .filter { !$0.hasPrefix(prefix) }
    let query = (others + pairs).joined(separator: "&")
    return URL(string: query.isEmpty ? String(parts[0]) : "\(parts[0])?\(query)")
  }
}

extension JSONValue {
  /// Returns the text or the whole number at a path of members, such as `paging.next`.
  ///
  /// Returns `nil` for an empty text, because some APIs send it if there is no page, for a number
  /// with a fraction, and for a path without a member. `body` is the JSON text of this value.
  fileprivate func text(at path: String, in body: Data) -> String? {
    switch member(at: path) {
    case .string(let text)?: return text.isEmpty ? nil : text
    case .integer(let number)?: return String(number)
    case .number?:
      // It may be a whole number of 2^63 or more, of which only the text has all digits.
      guard let exact = try? JSONReader.value(of: body, .repeatedAnswer),
        case .string(let digits)? = exact.member(at: path)
      else { return nil }
      return digits
    default: return nil
    }
  }

  private func member(at path: String) -> JSONValue? {
    let names = path.split(separator: ".")
    guard !names.isEmpty else { return nil }
    return names.reduce(self as JSONValue?) { value, name in value[String(name)] }
  }
}
