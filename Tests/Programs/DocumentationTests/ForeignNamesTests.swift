import Foundation
import TestSupport
import Testing

/// The deprecated names that exist for apps written for other libraries.
///
/// The documentation lists each name under its library.
@Suite struct ForeignNamesTests {
  /// A declaration's name, as at the start of a link to it.
  private struct Name: Hashable, CustomStringConvertible {
    /// The type that the declaration belongs to, if any.
    let type: String?
    let name: String
    var description: String { (type.map { "\($0)." } ?? "") + name }
  }

  @Test
  func `the documentation lists each deprecated name or its type under the names of a library`()
    throws
  {
    let deprecated = try Self.deprecated()
    #expect(deprecated.contains(Name(type: "SQOAuth", name: "sharedInstance")))
    #expect(deprecated.contains(Name(type: nil, name: "SQAuthorizationProtocol")))
    let listed = try Self.listed()
    for name in deprecated.subtracting(listed) {
      // If the whole type is listed, its members need no entries.
      if let type = name.type, listed.contains(Name(type: nil, name: type)) { continue }
      Issue.record(
        "\(name) is missing under \"Names of …\" in the topics of \(name.type ?? "SequencingOAuth")"
      )
    }
  }

  @Test(arguments: ["the Sequencing.com pods", "AeroGear", "Heimdall"])
  func `the documentation has a topic for the deprecated names of a library`(library: String) throws
  {
    let pages = try Self.pages().map(\.text)
    #expect(pages.contains { $0.contains("\n### Names of \(library)\n") })
  }

  // MARK: The sources

  private static let sources = PackageSources.root.appending(path: "Sources/SequencingOAuth")

  private static func deprecated() throws -> Set<Name> {
    let texts = try PackageSources.paths(in: "Sources/SequencingOAuth")
      .filter { $0.hasSuffix(".swift") }.map(PackageSources.text)
    return texts.reduce(into: []) { $0.formUnion(deprecated(in: $1)) }
  }

  /// Returns the public declarations of a file that are marked `deprecated`.
  private static func deprecated(in text: String) -> Set<Name> {
    var names: Set<Name> = []
    var type: String?
    var isDeprecated = false
    for line in text.split(separator: "\n") {
      if let match = line.firstMatch(of: /^(?:public )?(?:final )?(?:extension|class|struct) (\w+)/)
      {
        type = String(match.1)
      }
      if line.hasPrefix("}") { type = nil }
      let isComment = line.drop { $0 == " " }.hasPrefix("//")
      if line.contains("deprecated") && !isComment { isDeprecated = true }
      if isDeprecated, let match = line.firstMatch(of: /^( *)public ((?:[a-z()]+ )*)(\w+)/) {
        names.insert(Name(type: match.1.isEmpty ? nil : type, name: String(match.3)))
        isDeprecated = false
      }
    }
    return names
  }

  // MARK: The topics

  private static func pages() throws -> [(type: String?, text: String)] {
    let catalogue = sources.appending(path: "SequencingOAuth.docc")
    let symbols = catalogue.appending(path: "Symbols")
    let files = try FileManager.default.contentsOfDirectory(atPath: symbols.path)
    let module = catalogue.appending(path: "SequencingOAuth.md")
    var pages: [(String?, String)] = [(nil, try String(contentsOf: module, encoding: .utf8))]
    for file in files {
      let text = try String(contentsOf: symbols.appending(path: file), encoding: .utf8)
      pages.append((String(file.dropLast(3)), text))
    }
    return pages
  }

  /// Returns the names under the headings that begin with "Names of".
  private static func listed() throws -> Set<Name> {
    var names: Set<Name> = []
    for page in try pages() {
      var isForeign = false
      for line in page.text.split(separator: "\n") {
        if line.hasPrefix("#") { isForeign = line.hasPrefix("### Names of ") }
        if isForeign, let match = line.firstMatch(of: /^- ``(\w+)/) {
          names.insert(Name(type: page.type, name: String(match.1)))
        }
      }
    }
    return names
  }
}
