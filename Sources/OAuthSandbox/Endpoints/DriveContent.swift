import SQBasics
import SQFoundation

/// The endpoint for the content of a file, whole or in part (RFC 9110, section 14).
///
/// Its address is `/drive/v2/files/ID?alt=media`.
enum DriveContent {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    DriveAPI.answer(request, ["GET", "HEAD"], &sandbox) { access, sandbox throws(APIFault) in
      guard let file = sandbox.drive.file(request.fileID ?? "", of: access.owner) else {
        throw .noSuchFile
      }
      return content(of: file, for: request)
    }
  }

  private static func content(of file: SandboxFile, for request: SandboxRequest) -> Answer {
    let modified = Timestamp.http(file.modified)
    let about = [
      (name: "ETag", value: file.etag), ("Last-Modified", modified), ("Accept-Ranges", "bytes"),
      ("Cache-Control", "private, no-cache"),
    ]
    // RFC 9110, section 13.2.2: `If-None-Match` is evaluated before `Range`.
    if let known = request.fieldList("if-none-match"), matches(known, file.etag) {
      return Answer(status: 304, headers: about, content: .text(""))
    }
    let name = FormCoding.encode(file.title)
    let fields =
      about + [
        ("Content-Type", file.contentType), ("X-Content-Type-Options", "nosniff"),
        ("Content-Disposition", "attachment; filename*=UTF-8''\(name)"),
      ]
    let count = file.content.count
    switch range(of: request, etag: file.etag, modified: modified, count: count) {
    case .whole:
      return Answer(status: 200, headers: fields, content: .data(file.content))
    case .part(let range):
      let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
      let start = file.content.startIndex
      let part = file.content[(start + range.lowerBound)..<(start + range.upperBound)]
      return Answer(
        status: 206, headers: fields + [("Content-Range", place)], content: .data(part))
    case .unsatisfiable:
      return APIFault(
        416, "The range lies outside the file.", headers: [("Content-Range", "bytes */\(count)")]
      ).answer
    }
  }

  /// Returns the range to send.
  ///
  /// Returns `whole` if the method is not GET, if there is no field `Range`, or if `If-Range` names
  /// another version of the file.
  private static func range(
    of request: SandboxRequest, etag: String, modified: String, count: Int
  ) -> ByteRange.Outcome {
    guard request.method == "GET", let range = request.header("range") else { return .whole }
    // RFC 9110, section 13.1.5: `If-Range` must have the same strong tag or exactly the same date.
    if let condition = request.header("if-range"), condition != etag, condition != modified {
      return .whole
    }
    return ByteRange.read(range, of: count)
  }

  /// Compares the tag weakly with each member of a list.
  ///
  /// - SeeAlso: RFC 9110, sections 8.8.3.2 and 13.1.2
  private static func matches(_ list: String, _ etag: String) -> Bool {
    list.split(separator: ",").contains { member in
      let tag = member.trimmed
      return tag == "*" || tag == etag || tag == "W/" + etag
    }
  }
}
