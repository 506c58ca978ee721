import Foundation
import TestSupport

/// A Swift code block in a document that has an import: a complete program or one of its files.
///
/// A block without an import is only text: another library's code, or a part of a file.
struct Sample: Sendable, CustomStringConvertible {
  /// How the sample is compiled.
  enum Kind: Sendable {
    /// Statements and declarations, as in `main.swift`.
    case program
    /// Declarations only, because tests cannot be among statements.
    case tests
    /// A `Package.swift`.
    case manifest
  }

  let document: String
  /// The number of the sample's first line in the document.
  let line: Int
  let code: String
  /// The last line of text above the block.
  var introduction = ""

  /// The file of `Demo/Examples` that the sample quotes, according to the line above it.
  var example: String? {
    introduction.firstMatch(of: /`Demo\/Examples\/(\w+\.swift)`/).map { String($0.1) }
  }

  var description: String { "\(document):\(line)" }

  var kind: Kind {
    if code.contains("\nimport PackageDescription\n") { return .manifest }
    return code.contains("import Testing\n") ? .tests : .program
  }

  /// The conditional catch clauses that are the last of their `do`.
  ///
  /// Swift 6.3 may fail to compile them if a call throws a typed error.
  var unfinishedCatches: [String] {
    let lines = code.split(separator: "\n")
    return lines.indices.compactMap { index in
      guard let clause = lines[index].firstMatch(of: /^( *)(\} catch [^{].*)$/) else { return nil }
      let end = lines[(index + 1)...].first { $0.hasPrefix("\(clause.1)}") }
      return end?.contains("} catch") == true ? nil : String(clause.2)
    }
  }

  /// Returns the samples of the README and of every article.
  static func all() throws -> [Sample] {
    try PackageSources.documents().flatMap { document in
      samples(in: try PackageSources.text(of: document), of: document)
    }
  }

  /// Returns the samples of a text, at any indentation of their fences.
  static func samples(in text: String, of document: String) -> [Sample] {
    var samples: [Sample] = []
    var block: (line: Int, indentation: Int, lines: [Substring])?
    var introduction = ""
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let indentation = line.prefix { $0 == " " }.count
      switch (line.dropFirst(indentation), block) {
      case ("```swift", nil):
        block = (index + 2, indentation, [])
      case ("```", let finished?):
        if finished.lines.contains(where: { $0.hasPrefix("import ") }) {
          let code = finished.lines.joined(separator: "\n") + "\n"
          samples.append(
            Sample(
              document: document, line: finished.line, code: code, introduction: introduction))
        }
        block = nil
      case (_, let open?):
        block?.lines.append(line.dropFirst(min(open.indentation, indentation)))
      case (let text, nil):
        if !text.isEmpty { introduction = String(text) }
      }
    }
    return samples
  }
}
