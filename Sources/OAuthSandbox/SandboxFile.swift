#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A file of the sandbox's drive.
public struct SandboxFile: Sendable, Identifiable {
  /// What addresses it; letters and digits.
  public let id: String
  /// Its name for people, which need not be unique.
  public internal(set) var title: String
  /// What its owner says of it.
  public internal(set) var description: String?
  /// The media type of the content, as it was sent.
  public internal(set) var contentType: String
  /// The content.
  public private(set) var content: Data
  /// When it was added.
  public let created: Date
  /// When its title or content changed last.
  public internal(set) var modified: Date
  /// The strong entity tag of the content, in quotation marks (RFC 9110, section 8.8.3).
  public private(set) var etag: String
  /// Files are listed in the order of their numbers, which are never used again.
  let number: Int

  init(
    number: Int, title: String, description: String? = nil, contentType: String, content: Data,
    created: Date
  ) {
    id = "f\(number)"
    self.number = number
    self.title = title
    self.description = description
    self.contentType = contentType
    self.content = content
    self.created = created
    modified = created
    etag = Self.etag(of: content)
  }

  mutating func replaceContent(_ content: Data, type: String) {
    self.content = content
    contentType = type
    etag = Self.etag(of: content)
  }

  /// The same content has the same tag, so that a client may go on with what it has.
  private static func etag(of content: Data) -> String { "\"\(Crypto.digest(of: content))\"" }
}

extension SandboxFile: CustomReflectable {
  /// Everything but the content.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["id": id, "title": title, "contentType": contentType, "etag": etag])
  }
}
