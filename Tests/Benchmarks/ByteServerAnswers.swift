import Glibc

extension ByteServerLoop {
  /// The requests and answers that the byte server knows.
  enum Answers {
    static let post = [UInt8]("POST ".utf8)
    static let slowPost = [UInt8]("POST /slow".utf8)
    static let farPost = [UInt8]("POST /far".utf8)
    private static let failingPost = [UInt8]("POST /failing".utf8)
    private static let headEnd = [UInt8]("\r\n\r\n".utf8)
    /// The field as every client in these benchmarks spells it.
    private static let lengthField = [UInt8]("\r\nContent-Length: ".utf8)

    /// Returns whether the bytes end with a complete request.
    static func isWhole(_ request: UnsafeRawBufferPointer) -> Bool {
      guard request.starts(with: post) else { return request.suffix(4).elementsEqual(headEnd) }
      guard let end = position(of: headEnd, in: request) else { return false }
      guard let field = position(of: lengthField, in: request) else { return true }
      let digits = request[(field + lengthField.count)...].prefix { (0x30...0x39).contains($0) }
      let length = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
      return request.count >= end + headEnd.count + length
    }

    static func answer(to request: UnsafeRawBufferPointer) -> [UInt8] {
      guard request.starts(with: post) else { return data }
      return request.starts(with: failingPost) ? refusal : token
    }

    private static let data = bytes(
      "200 OK", "Content-Type: text/plain", body: String(repeating: "x", count: 1024))

    /// A token response with an opaque token, which is smaller than one with a JWT.
    static let token = bytes(
      "200 OK", "Content-Type: application/json", "Cache-Control: no-store",
      body: """
        {"access_token":"\(String(repeating: "a", count: 43))","token_type":"Bearer",\
        "expires_in":3600,"scope":"demo"}
        """)

    private static let refusal = bytes("503 Service Unavailable", body: "")

    private static func bytes(_ status: String, _ fields: String..., body: String) -> [UInt8] {
      let head = ["HTTP/1.1 \(status)"] + fields + ["Content-Length: \(body.utf8.count)", "", ""]
      return [UInt8]((head.joined(separator: "\r\n") + body).utf8)
    }

    private static func position(
      of bytes: [UInt8], in request: UnsafeRawBufferPointer
    ) -> Int? {
      guard let base = request.baseAddress else { return nil }
      // The C library's `memmem` is not available here.
      return (0..<max(0, request.count - bytes.count + 1)).first {
        memcmp(base + $0, bytes, bytes.count) == 0
      }
    }
  }
}
