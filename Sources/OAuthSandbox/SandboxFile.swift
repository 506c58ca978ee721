public import SQFoundation

/// A file in a drive of the sandbox.
public struct SandboxFile: Sendable, Identifiable {
  /// The file's ID in addresses; it consists of letters and digits.
  public let id: String
  /// The file's display name, which does not have to be unique.
  public internal(set) var title: String
  /// The owner's description of the file.
  public internal(set) var description: String?
  /// The media type of the content, as the client sent it.
  public internal(set) var contentType: String
  /// The file's bytes.
  public private(set) var content: Data
  /// The date when the file was added.
  public let created: Date
  /// The date of the last change to the file's metadata or content.
  public internal(set) var modified: Date
  /// The strong entity tag of the content, in quotation marks (RFC 9110, section 8.8.3).
  public private(set) var etag: String
  /// The file's position in lists, a number that is never reused.
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

  /// Returns a tag that depends only on the content, so that a client can continue a partial
  /// download.
  private static func etag(of content: Data) -> String { "\"\(Crypto.digest(of: content))\"" }
}

extension SandboxFile: CustomReflectable {
  /// A mirror of the ID, title, type and tag, without the content.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["id": id, "title": title, "contentType": contentType, "etag": etag])
  }
}
