import SQBasics
import SQFoundation

/// The reason why a body is not valid `multipart/form-data`.
struct MultipartFault: Error {
  let message: String

  init(_ message: String) {
    self.message = message
  }
}

/// One part of a `multipart/form-data` body.
struct MultipartPart {
  let name: String
  /// The file's name; `nil` for a field that is not a file.
  let fileName: String?
  let contentType: String?
  let content: Data

  /// Reads the fields of a part's head, one per line (RFC 7578, section 4).
  init(head: [String], content: Data) throws(MultipartFault) {
    var fields: [String: String] = [:]
    for line in head {
      let name = line.prefix { $0 != ":" }
      guard name.utf8.count < line.utf8.count, !name.isEmpty, !name.contains(" ") else {
        throw MultipartFault("A field of a part is malformed.")
      }
      let key = name.lowercased()
      guard fields[key] == nil else { throw MultipartFault("A part has a field twice.") }
      fields[key] = String(line[line.index(after: name.endIndex)...].trimmed)
    }
    guard let disposition = fields["content-disposition"].flatMap(FieldParameters.init),
      disposition.value == "form-data", let name = disposition["name"]
    else { throw MultipartFault("A part has no Content-Disposition of form-data with a name.") }
    // RFC 7578, section 4.2, forbids `filename*`, and many servers do not support it.
    guard disposition["filename*"] == nil else {
      throw MultipartFault("A part of form-data must use filename, not filename*.")
    }
    let encoding = fields["content-transfer-encoding"]?.lowercased() ?? "binary"
    guard ["7bit", "8bit", "binary"].contains(encoding) else {
      throw MultipartFault("A part's Content-Transfer-Encoding must be 7bit, 8bit or binary.")
    }
    self.name = Self.unescaped(name)
    fileName = disposition["filename"].map(Self.unescaped)
    contentType = fields["content-type"]
    self.content = content
  }

  /// Decodes the escapes that HTML's form encoding makes in a name, and no others.
  private static func unescaped(_ text: String) -> String {
    text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
      .replacing("%0d", with: "\r").replacing("%0a", with: "\n")
  }
}
