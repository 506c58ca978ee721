#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file of a drive, with the members that the demo shows; `files --json` prints its encoded form.
struct DriveFile: Sendable, Equatable, Encodable {
  let id: String
  let title: String
  /// The size in bytes; `nil` for a file without content, such as a folder.
  let size: Int64?
  /// The time of the last change, in the form of ISO 8601.
  let modified: String?
  let type: String?
}

extension DriveFile: Decodable {
  private enum Key: String, CodingKey {
    case id, title, fileSize, modifiedDate, mimeType
  }

  /// Reads a file in the format of Google Drive v2, where sizes are texts.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    id = try values.decode(String.self, forKey: .id)
    title = try values.decode(String.self, forKey: .title)
    size = try values.decodeIfPresent(String.self, forKey: .fileSize).flatMap { Int64($0) }
    modified = try values.decodeIfPresent(String.self, forKey: .modifiedDate)
      .map { Self.moment($0) }
    type = try values.decodeIfPresent(String.self, forKey: .mimeType)
  }

  /// A page of a drive's list; it can also read Sequencing's list, which has only one page.
  struct Page: Decodable, Sendable {
    private enum CodingKeys: CodingKey {
      case items
    }

    let items: [DriveFile]

    init(from decoder: any Decoder) throws {
      if let files = try? [DriveFile.OfSequencing](from: decoder) {
        items = files.map(DriveFile.init)
      } else {
        items = try decoder.container(keyedBy: CodingKeys.self)
          .decode([DriveFile].self, forKey: .items)
      }
    }
  }
}

extension DriveFile {
  /// A file in the format of Sequencing's list.
  struct OfSequencing: Decodable, Sendable {
    private enum CodingKeys: String, CodingKey {
      case id = "Id"
      case name = "Name"
      case size = "Size"
      case added = "DateAdded"
      case category = "FileCategory"
    }

    let id: String
    let name: String
    let size: Int64?
    let added: String?
    let category: String?
  }

  init(_ file: OfSequencing) {
    self.init(
      id: file.id, title: file.name, size: file.size, modified: file.added.map { Self.moment($0) },
      type: file.category)
  }

  /// A time to the second in UTC; a text that is not a date with a time zone stays, as one word.
  private static func moment(_ text: String) -> String {
    let date =
      (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
      ?? (try? Date.ISO8601FormatStyle().parse(text))
    return date?.formatted(.iso8601) ?? text.replacing(" ", with: "T")
  }
}

extension DriveFile {
  /// The name for the file on this machine.
  ///
  /// A title can be any text, so it is changed: the name must not lead to another folder, hide the
  /// file, or look like an option to the commands that get it.
  var localName: String {
    let name = (title.isEmpty ? id : title).onScreen.replacing("/", with: "_")
    return name.hasPrefix(".") || name.hasPrefix("-") ? "_" + name.dropFirst() : name
  }
}
