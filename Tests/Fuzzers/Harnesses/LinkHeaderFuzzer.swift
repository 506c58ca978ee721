import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthPipes

extension Fuzzer {
  /// A fuzzer for the places where an API's response names its other pages: `Link`, other header
  /// fields, and members of the body.
  static let linkHeader = Fuzzer("link-header") { input in
    let text = String(decoding: input, as: UTF8.self)
    let links = LinkHeader.links(in: [text])
    try require(links.count <= 64, "\(links.count) links")
    for (relation, target) in links {
      try require(text.utf8.contains("<\(target)>".utf8), "\(target) is not in the field")
      try require(
        !relation.isEmpty && !relation.contains(" ") && relation == relation.lowercased(),
        "a relation \(relation)")
      try requireReadAgain(relation, target)
    }
    let page = try WebRequest(url: "https://api.example.com/items?page=2").url
    let json = try? JSONReader.value(of: input, .answer)
    for paging in pagings {
      let response = WebResponse(
        status: 200, headers: ["Link": text, "next": text], body: input)
      let (next, previous) = paging.neighbours(of: response, json, at: page)
      for url in [next, previous].compactMap(\.self) { try check(url) }
    }
    // A page token from the body leads to a URL at the same address.
    let tokens = Paging.tokens(next: "next", parameter: "page")
    if let next = tokens.neighbours(of: WebResponse(status: 200), json, at: page).next {
      try require(next.absoluteString.hasPrefix("https://api.example.com/items?page="), "\(next)")
      try require(next.absoluteString.isASCII(withSpaces: false), "\(next)")
    }
  }

  private static let pagings = [Paging.linkHeader, .headers(), .body(), .body(next: "paging.next")]

  private static func requireReadAgain(_ relation: String, _ target: String) throws {
    var quoted = ""
    for scalar in relation.unicodeScalars {
      if scalar == "\\" || scalar == "\"" { quoted.unicodeScalars.append("\\") }
      quoted.unicodeScalars.append(scalar)
    }
    let again = LinkHeader.links(in: ["<\(target)>; rel=\"\(quoted)\""])
    try require(again == [relation: target], "\(relation) reads differently when written")
  }

  /// Requires that the URL has no access token, even if the API put one there.
  private static func check(_ url: URL) throws {
    let query = url.absoluteString.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
    for pair in query.split(separator: "&") {
      try require(!pair.hasPrefix("access_token="), "an access token in \(url)")
    }
  }
}
