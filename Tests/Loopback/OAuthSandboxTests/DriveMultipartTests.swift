import FoundationEssentials
import OAuthSandbox
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct DriveMultipartTests {
  private static let file = #"Content-Disposition: form-data; name="file"; filename="f.txt""#

  @Test(arguments: [
    ("--b\r\n\(file)\r\n\r\nabc\r\n--b--\r\n", "f.txt", "abc"),
    ("--b\r\n\(file)\r\n\r\nabc\r\n--b--", "f.txt", "abc"),
    ("preamble\r\n--b\r\n\(file)\r\n\r\nabc\r\n--b--\r\nepilogue", "f.txt", "abc"),
    ("--b \t\r\n\(file)\r\n\r\nabc\r\n--b-- \r\n", "f.txt", "abc"),
    ("--b\r\n\(file)\r\n\r\n\r\n--b--\r\n", "f.txt", ""),
    ("--b\r\n\(file)\r\n\r\n\r\n\r\n--b--\r\n", "f.txt", "\r\n"),
    ("--b\r\n\(file)\r\n\r\n\n--b\r--b--b-\r\n-b\r\n--b--\r\n", "f.txt", "\n--b\r--b--b-\r\n-b"),
    (
      "--b\r\nCONTENT-disposition:FORM-DATA;NAME=file\r\n\r\n\u{0}\r\n--b--\r\n", "Untitled",
      "\u{0}"
    ),
    (
      "--b\r\n\(file)\r\n\r\nabc\r\n--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nÄ\r\n--b--",
      "Ä", "abc"
    ),
    (
      "--b\r\nContent-Disposition: form-data; name=x\r\n\r\ny\r\n--b\r\n\(file)\r\n\r\nabc\r\n--b--",
      "f.txt", "abc"
    ),
  ])
  func `multipart parts end exactly at their boundary`(
    body: String, title: String, content: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let answer = try await DriveClient(sandbox).multipart(body)
    #expect(answer.status == 201, "\(answer.text)")
    #expect(sandbox.files().last?.title == title)
    #expect(sandbox.files().last?.content == Data(content.utf8))
    await sandbox.stop()
  }

  @Test(arguments: [
    (#"filename="a \"b\" \\ c""#, #"a "b" \ c"#),
    (#"filename="C:\new\x""#, #"C:\new\x"#),
    (#"filename="a%22b%0D%0Ac%20%41""#, "a\"b\r\nc%20%41"),
    (#"filename="Grüße 🧬; =.txt""#, "Grüße 🧬; =.txt"),
    (#"filename=plain.txt"#, "plain.txt"),
    (#"filename="""#, "Untitled"),
    (#"FileName = "x""#, nil),
  ])
  func `file names are decoded from the forms that browsers and the RFCs use`(
    parameter: String, title: String?
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let answer = try await DriveClient(sandbox).multipart(
      "--b\r\nContent-Disposition: form-data; name=\"file\"; \(parameter)\r\n\r\n\r\n--b--\r\n")
    #expect(answer.status == (title == nil ? 400 : 201))
    #expect(title == nil || sandbox.files().last?.title == title)
    await sandbox.stop()
  }

  @Test func `form fields describe the file, and the part's content type is kept`() async throws {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    let first = try await drive.multipart(
      """
      --b\r\n\(Self.file)\r\nContent-Type: text/x; charset=utf-8\r\n\r\nabc\r
      --b\r\nContent-Disposition: form-data; name="title"\r\n\r\none\r
      --b\r\nContent-Disposition: form-data; name="description"\r\n\r\nwhat it is\r
      --b--\r\n
      """)
    let file = try first.decoded(FileJSON.self)
    #expect(file.title == "one" && file.description == "what it is")
    #expect(file.mimeType == "text/x; charset=utf-8")
    let second = try await drive.multipart(
      "--b\r\n\(Self.file)\r\n\r\nx\r\n--b--", "PUT", to: "/upload/drive/v2/files/\(file.id)")
    let new = try second.decoded(FileJSON.self)
    #expect(new.title == "one" && new.description == "what it is" && new.fileSize == "1")
    #expect(new.mimeType == "application/octet-stream")
    let third = try await drive.multipart(
      "--b\r\n\(Self.file)\r\n\r\nx\r\n--b--", to: "/upload/drive/v2/files?title=asked")
    #expect(try third.decoded(FileJSON.self).title == "asked")
    await sandbox.stop()
  }

  @Test(arguments: [
    "", "--b", "--b--", "--b--\r\n", "--b\r\n", "--c\r\n\(file)\r\n\r\nabc\r\n--c--\r\n",
    "--b\r\n\(file)\r\n\r\nabc", "--b\r\n\(file)\r\n\r\nabc--b--\r\n",
    "--b\r\n\(file)\r\n\r\nabc\n--b--\r\n", "--b\n\(file)\n\nabc\n--b--\n",
    "--b\r\n\(file)\r\n\r\nabc\r\n--bc\r\n--b--\r\n", "--b\r\n\(file)\r\n\r\nabc\r\n--b-\r\n",
    "--b\r\n\(file)\r\n--b--\r\n", "--b\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\n\(file)\r\n\r\n1\r\n--b\r\n\(file)\r\n\r\n2\r\n--b--\r\n",
    "--b\r\n\(file)\r\n\(file)\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\nContent-Disposition: form-data; name=\"file; filename=\"f\"\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\nContent-Disposition: form-data; name=file; name=file\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\nContent-Disposition: form-data; filename=f\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\nContent-Disposition: attachment; name=file\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\nContent-Disposition: form-data; name=file; filename*=UTF-8''f\r\n\r\na\r\n--b--\r\n",
    "--b\r\nContent-Disposition: form-data; name=other; filename=f\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\n\(file)\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\n--b--\r\n",
    "--b\r\n\(file)\r\n folded\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\n\(file)\r\nX\r\n\r\na\r\n--b--\r\n",
    "--b\r\n\(file)\r\nX: \u{1}\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\n\(file)\r\nContent-Type: text\r\n\r\nabc\r\n--b--\r\n",
    "--b\r\n\(file)\r\nX: \(String(repeating: "a", count: 9000))\r\n\r\nabc\r\n--b--\r\n",
  ])
  func `malformed multipart content is rejected with a message`(body: String) async throws {
    let sandbox = try await SandboxServer.start()
    let answer = try await DriveClient(sandbox).multipart(body)
    #expect(answer.status == 400 && answer.driveError?.isEmpty == false)
    #expect(sandbox.files().count == 5)
    await sandbox.stop()
  }

  @Test(arguments: [
    ("multipart/form-data", false), ("multipart/form-data; boundary=", false),
    ("multipart/form-data; boundary=\"\"", false), ("multipart/form-data; boundary=b; x", false),
    ("multipart/form-data; boundary=\"b \"", false), ("multipart/form-data; boundary=b%", false),
    ("multipart/form-data; boundary=\(String(repeating: "b", count: 71))", false),
    ("Multipart/Form-Data ;Boundary=\"b\";x=y", true),
  ])
  func `only a valid boundary is accepted`(type: String, isGood: Bool) async throws {
    let sandbox = try await SandboxServer.start()
    let answer = try await DriveClient(sandbox).multipart(
      "--b\r\n\(Self.file)\r\n\r\nabc\r\n--b--\r\n", type: type)
    #expect(answer.status == (isGood ? 201 : 400))
    await sandbox.stop()
  }

  @Test func `file names that are not UTF-8 are rejected`() async throws {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    let head = "--b\r\nContent-Disposition: form-data; name=file; filename=\""
    let body = Data(head.utf8) + [0xFC] + Data("\"\r\n\r\nabc\r\n--b--\r\n".utf8)
    let answer = try await drive.send(
      "POST", "/upload/drive/v2/files", [("Content-Type", "multipart/form-data; boundary=b")],
      body: body)
    #expect(answer.status == 400)
    await sandbox.stop()
  }
}
