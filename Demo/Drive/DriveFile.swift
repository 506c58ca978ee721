import SQBasics
import SQFoundation

/// A file of a drive with the members that the demo shows.
///
/// `files --json` prints its encoded form.
struct DriveFile: Sendable, Equatable, Encodable {
  let id: String
  let title: String
  /// The size in bytes; `nil` for a file without content, such as a folder.
  let size: Int64?
  /// The date of the last change in the format of ISO 8601.
  let modified: String?
  let type: String?
}

extension DriveFile: Decodable {
  private enum Key: String, CodingKey {
    case id, title, fileSize, modifiedDate, mimeType
  }

  /// Decodes a file in the format of Google Drive v2; its sizes are strings.
  ///
  /// Only the ID is required: an unexpected value in one file must not hide the other files.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    func text(_ key: Key) -> String? { try? values.decode(String.self, forKey: key) }
    func number(_ key: Key) -> Int64? { try? values.decode(Int64.self, forKey: key) }
    if let number = number(.id) {
      id = String(number)
    } else {
      id = try values.decode(String.self, forKey: .id)
    }
    title = text(.title) ?? ""
    size = text(.fileSize).map { Int64($0) } ?? number(.fileSize)
    modified = text(.modifiedDate).map { Self.moment($0) }
    type = text(.mimeType)
  }

  /// A page of a drive's list, or the single page of Sequencing's list.
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

  /// Returns a date in UTC without fractions of a second.
  ///
  /// A text that is not a date with a time zone is returned as one word.
  private static func moment(_ text: String) -> String {
    let date =
      (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
      ?? (try? Date.ISO8601FormatStyle().parse(text))
    return date?.formatted(.iso8601) ?? text.replacingScalar(" ", with: "T")
  }
}

extension DriveFile {
  /// The name of a local copy of the file.
  ///
  /// A title can be any text, so it is changed: the name must not lead to another folder, hide the
  /// file, be too long for a file system, or look like an option or a home folder to other
  /// commands.
  var localName: String {
    let name = (title.isEmpty ? id : title).onScreen.replacingScalar("/", with: "_")
    let isOdd = name.unicodeScalars.first.map { ".-~".unicodeScalars.contains($0) } ?? true
    return Self.shortened(isOdd ? "_" + String(name.unicodeScalars.dropFirst()) : name)
  }

  /// Shortens a name that is too long for a file system, and keeps its extension.
  private static func shortened(_ name: String) -> String {
    // File systems allow 255 bytes, and a download adds suffixes such as `.partial.info`.
    let limit = 200
    guard name.utf8.count > limit else { return name }
    let scalars = name.unicodeScalars
    let end = scalars.lastIndex(of: ".").map { String(scalars[$0...]) } ?? ""
    let kept = end.utf8.count <= 20 ? end : ""
    var room = limit - kept.utf8.count
    let start = scalars.dropLast(kept.unicodeScalars.count).prefix { scalar in
      room -= scalar.utf8.count
      return room >= 0
    }
    return String(start) + kept
  }
}
