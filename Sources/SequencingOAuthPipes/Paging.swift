import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The place in an API's answer that names the next and the previous page.
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

  /// The URLs of the next and the previous page are in a `Link` field, under two relations.
  ///
  /// - SeeAlso: RFC 8288
  public static func linkHeader(next: String = "next", previous: String = "prev") -> Paging {
    Paging(place: .linkHeader, next: next, previous: previous)
  }

  /// The URLs of the two pages are in a `Link` field, under the relations `next` and `prev`.
  ///
  /// - SeeAlso: RFC 8288
  public static var linkHeader: Paging { linkHeader() }

  /// The URLs of the next and the previous page are the values of two header fields.
  public static func headers(next: String = "next", previous: String = "previous") -> Paging {
    Paging(place: .headers, next: next, previous: previous)
  }

  /// The URLs of the next and the previous page are in two members of the JSON body.
  ///
  /// A member is named by its path, such as `paging.next`.
  public static func body(next: String = "next", previous: String = "previous") -> Paging {
    Paging(place: .body, next: next, previous: previous)
  }

  /// The page tokens of the next and the previous page are in two members of the JSON body.
  ///
  /// The request for another page sends its page token in a parameter of the query. For Google's
  /// APIs, use `.tokens(next: "nextPageToken", parameter: "pageToken")`.
  public static func tokens(
    next: String, previous: String = "", parameter: String
  ) -> Paging {
    Paging(place: .token(parameter: parameter), next: next, previous: previous)
  }

  /// The URLs of the next and the previous page, from the response to a request to `url`.
  func neighbours(
    of response: HTTPResponse, _ json: JSONValue?, at url: URL
  ) -> (next: URL?, previous: URL?) {
    let texts = texts(in: response, json)
    return (
      texts.next.flatMap { self.url($0, at: url) }, texts.previous.flatMap { self.url($0, at: url) }
    )
  }

  /// The texts in the response that name the next and the previous page.
  private func texts(
    in response: HTTPResponse, _ json: JSONValue?
  ) -> (next: String?, previous: String?) {
    switch place {
    case .linkHeader:
      let links = LinkHeader.links(in: response.headers.values(for: "Link"))
      return (links[next.asciiLowercased()], links[previous.asciiLowercased()])
    case .headers:
      return (response.headers[next], response.headers[previous])
    case .body, .token:
      return (json?.text(at: next), json?.text(at: previous))
    }
  }

  private func url(_ text: String, at page: URL) -> URL? {
    if case .token(let parameter) = place { return page.setting(parameter, to: text) }
    return text.url(from: page)
  }
}

extension String {
  /// The URL of this reference, relative to a page, without an access token; `nil` if it is empty.
  fileprivate func url(from page: URL) -> URL? {
    isEmpty ? nil : URL(string: self, relativeTo: page)?.absoluteURL.withoutToken
  }
}

extension URL {
  /// This URL with a parameter of the query set to a value.
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
  /// The text or the number at a path of members, such as `paging.next`.
  ///
  /// It is `nil` for an empty text, which some APIs send if there is no page.
  fileprivate func text(at path: String) -> String? {
    let value = path.split(separator: ".").reduce(self as JSONValue?) { value, name in
      value[String(name)]
    }
    switch value {
    case .string(let text)?: return text.isEmpty || path.isEmpty ? nil : text
    case .integer(let number)?: return String(number)
    default: return nil
    }
  }
}
