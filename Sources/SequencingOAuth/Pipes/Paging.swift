#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where an API's answer names the pages beside it.
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

  /// In a `Link` field, with the relations `next` and `prev`, or the ones that are named.
  ///
  /// - SeeAlso: RFC 8288
  public static func linkHeader(next: String = "next", previous: String = "prev") -> Paging {
    Paging(place: .linkHeader, next: next, previous: previous)
  }

  /// In a `Link` field, with the relations `next` and `prev`.
  public static var linkHeader: Paging { linkHeader() }

  /// In header fields, whose values are URLs.
  public static func headers(next: String = "next", previous: String = "previous") -> Paging {
    Paging(place: .headers, next: next, previous: previous)
  }

  /// In the body: in members that hold URLs, named by their paths, such as `paging.next`.
  public static func body(next: String = "next", previous: String = "previous") -> Paging {
    Paging(place: .body, next: next, previous: previous)
  }

  /// In the body: in members that hold tokens, which are sent back in a parameter of the query.
  ///
  /// `.tokens(next: "nextPageToken", parameter: "pageToken")` is what Google's APIs speak.
  public static func tokens(
    next: String, previous: String = "", parameter: String
  ) -> Paging {
    Paging(place: .token(parameter: parameter), next: next, previous: previous)
  }

  /// The URLs of the pages beside a response to a request, as they stand in it.
  func neighbours(of response: HTTPResponse, at url: URL) -> (next: URL?, previous: URL?) {
    let texts = texts(in: response)
    return (
      texts.next.flatMap { self.url($0, at: url) }, texts.previous.flatMap { self.url($0, at: url) }
    )
  }

  /// What the response says of the pages beside it, as it says it.
  private func texts(in response: HTTPResponse) -> (next: String?, previous: String?) {
    switch place {
    case .linkHeader:
      let links = LinkHeader.links(in: response.headers.values(for: "Link"))
      return (links[next.lowercased()], links[previous.lowercased()])
    case .headers:
      return (response.headers[next], response.headers[previous])
    case .body, .token:
      let body = try? JSONDecoder().decode(JSONValue.self, from: response.body)
      return (body?.text(at: next), body?.text(at: previous))
    }
  }

  private func url(_ text: String, at page: URL) -> URL? {
    if case .token(let parameter) = place { return page.setting(parameter, to: text) }
    return text.url(from: page)
  }
}

extension String {
  /// The URL that a reference means, seen from a page.
  fileprivate func url(from page: URL) -> URL? {
    isEmpty ? nil : URL(string: self, relativeTo: page)?.absoluteURL.withoutToken
  }
}

extension URL {
  /// The same URL with a parameter of the query set to a value.
  fileprivate func setting(_ name: String, to value: String) -> URL? {
    replacing(name, by: [Substring(FormCoding.encodeQuery([FormCoding.Pair(name, value)]))])
  }

  /// The same URL without an access token.
  ///
  /// Some APIs write the token that they were sent into their links. There it would stand in logs,
  /// and a request must not carry a second one (RFC 6750, section 2).
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
  /// The text or the number at a path of members: `paging.next`; `nil` for an empty text, which is
  /// how some APIs say that there is none.
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
