import Foundation
import SQBasics
import SQFiles
import SequencingOAuth
import SequencingOAuthPipes
import TestSupport
import Testing

@testable import sq_demo

@Suite struct `A drive's address` {
  @Test(
    arguments: [
      (
        nil, "https://accounts.google.com",
        DriveAddress.drive("https://www.googleapis.com/drive/v2")
      ),
      (
        nil, "https://accounts.google.com/o/oauth2/v2/auth",
        .drive("https://www.googleapis.com/drive/v2")
      ),
      (
        nil, "https://sequencing.com/oauth2/authorize",
        .sequencing("https://api.sequencing.com/DataSourceList?all=true")
      ),
      (nil, "http://127.0.0.1:81/x", .drive("http://127.0.0.1:81/drive/v2")),
      ("/x/v3", "http://127.0.0.1:81/y", .drive("http://127.0.0.1:81/x/v3")),
      ("https://a.example/v3", nil, .drive("https://a.example/v3")),
      (
        "/api/DataSourceList?all=true", "http://127.0.0.1:81",
        .sequencing("http://127.0.0.1:81/api/DataSourceList?all=true")
      ),
    ] as [(String?, String?, DriveAddress)])
  func `the option or the provider determines the address of the files`(
    option: String?, server: String?, address: DriveAddress
  ) throws {
    #expect(try DriveAddress(option, at: server) == address)
  }

  @Test(arguments: ["/a b", "/a%2", "https://a.example/a b"])
  func `a drive's address with a wrong character is rejected before the account is known`(
    option: String
  ) throws {
    let failure = #expect(throws: Failure.self) { try DriveAddress.check(option) }
    #expect(failure?.code == "malformed_request" && failure?.status == .wrongUsage)
    try DriveAddress.check("/x/v3")
    try DriveAddress.check(nil)
  }

  @Test(arguments: [(nil, nil), ("/x", nil)] as [(String?, String?)])
  func `a drive's address that is relative or missing is rejected if no provider is known`(
    option: String?, server: String?
  ) {
    #expect(throws: Failure.self) { try DriveAddress(option, at: server) }
  }
}

@Suite struct `A drive's file` {
  @Test func `the JSON of Google's files is read, also without optional members`() throws {
    let json = """
      {"kind":"drive#file","id":"1","title":"T","fileSize":"12","mimeType":"text/plain",
      "modifiedDate":"2024-05-06T07:08:09.123Z"}
      """
    #expect(
      try JSONDecoder().decode(DriveFile.self, from: Data(json.utf8))
        == DriveFile(
          id: "1", title: "T", size: 12, modified: "2024-05-06T07:08:09Z", type: "text/plain"))
    let folder = try JSONDecoder().decode(
      DriveFile.self, from: Data(#"{"id":"1","title":"T"}"#.utf8))
    #expect(FileTable([folder]).text == "1  -  -  T")
    let odd = try JSONDecoder().decode(
      DriveFile.self, from: Data(#"{"id":7,"title":null,"fileSize":12,"mimeType":[]}"#.utf8))
    #expect(odd == DriveFile(id: "7", title: "", size: 12, modified: nil, type: nil))
  }

  @Test(arguments: [
    ("a b.txt", "a b.txt"), ("a/b", "a_b"), ("..", "_."), (".bashrc", "_bashrc"), ("", "id"),
    ("\u{1B}[2J", "?[2J"), ("/etc/passwd", "_etc_passwd"), (".", "_"),
    ("-rf", "_rf"), ("a-b", "a-b"), ("~", "_"), ("~root", "_root"), ("a~", "a~"),
    (String(repeating: "ä", count: 200) + ".tar", String(repeating: "ä", count: 98) + ".tar"),
    ("x." + String(repeating: "y", count: 300), "x." + String(repeating: "y", count: 198)),
    // A delimiter with a mark after it, or with some letters before it, is one Character.
    ("/\u{301}etc/\u{316}x", "_\u{301}etc_\u{316}x"), ("\u{D4E}/x", "\u{D4E}_x"),
    (".\u{301}x", "_\u{301}x"), ("-\u{301}rf", "_\u{301}rf"), ("~\u{301}/x", "_\u{301}_x"),
    ("a" + String(repeating: "\u{301}", count: 300), "a" + String(repeating: "\u{301}", count: 99)),
  ])
  func `a file's title becomes a local name that stays inside the folder`(
    title: String, name: String
  ) {
    let file = DriveFile(id: "id", title: title, size: nil, modified: nil, type: nil)
    #expect(file.localName.unicodeScalars.elementsEqual(name.unicodeScalars))
  }

  @Test func `a line of the file table cannot control the terminal`() {
    let file = DriveFile(
      id: "a\u{9B}b c", title: "t\r\n\u{1B}[2J", size: 1, modified: "now\u{7}", type: nil)
    #expect(FileTable([file]).text == "a?b_c  1  now?  t???[2J")
  }
}

@Suite struct `A path` {
  @Test(arguments: ["~", "~root", "~/file", "file", "/tmp/~"])
  func `a tilde in a path is not expanded`(path: String) {
    #expect(
      URL(unexpandedPath: path).path(percentEncoded: false).hasSuffix(path),
      "no part of it became a home folder")
  }
}

@Suite struct `The progress of a transfer` {
  private let bar = ProgressBar(title: "a title that is rather long.txt")

  private func line(
    _ completed: Int64, of total: Int64?, perSecond: Int64? = nil, columns: Int = 80
  ) -> String {
    bar.line(
      TransferProgress(completed: completed, total: total), perSecond: perSecond,
      Canvas(columns: columns, glyphs: .unicode)
    ).text
  }

  @Test func `the progress line has the title and the bytes, and a bar if the total is known`() {
    #expect(
      line(0, of: 2_000_000) == "a title that is r…  ────────────────   0 %  0 bytes of 2.0 MB")
    #expect(
      line(999_999, of: 2_000_000, perSecond: 1_234_567)
        == "a title that is r…  ━━━━━━━━────────  49 %  999.9 kB of 2.0 MB, 1.2 MB/s")
    #expect(line(2_000_000, of: 2_000_000) == "a title that is r…  ━━━━━━━━━━━━━━━━ 100 %  2.0 MB")
    #expect(line(0, of: 0) == "a title that is r…  ━━━━━━━━━━━━━━━━ 100 %  0 bytes")
    #expect(line(1500, of: nil) == "a title that is rather long.txt  1.5 kB")
  }

  @Test(arguments: [1, 10, 30, 50, 79, 80, 200])
  func `the progress line fits the terminal`(columns: Int) {
    let text = line(999_900_000, of: 999_900_001, perSecond: 999_900_000, columns: columns)
    #expect(TextLayout.columns(text) <= max(1, columns - 4))
  }

  @Test(
    arguments: [
      (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (999_999, "999.9 kB"),
      (1_000_000, "1.0 MB"), (48_113_907_552, "48.1 GB"), (Int64.max, "9.2 EB"),
    ] as [(Int64, String)])
  func `a byte count has a unit`(bytes: Int64, words: String) {
    #expect(ByteCount.inWords(bytes) == words)
  }
}
