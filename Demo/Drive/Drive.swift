import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The files of an account, by way of pipes, which sign in where nobody is signed in yet.
struct Drive: Sendable {
  typealias Progress = @Sendable (TransferProgress) -> Void

  private let files: Pipeline.Pipe
  private let uploads: Pipeline.Pipe
  private let failure: @Sendable (PipeError) -> Failure

  /// Makes the pipes of a drive; nothing is sent.
  ///
  /// `base` is the URL below which `files` is. Contents are sent to the same path below `/upload`, as
  /// Google has it.
  init(
    _ base: String, _ module: AuthorizationModule, timeout: Duration = .seconds(60),
    failure: @escaping @Sendable (PipeError) -> Failure
  ) throws(Failure) {
    self.failure = failure
    do throws(SQOAuthError) {
      let pipeline = try Pipeline(base, module: module)
      var configuration = PipeConfiguration(
        paging: .tokens(next: "nextPageToken", parameter: "pageToken"))
      configuration.timeout = timeout
      files = try pipeline.add("files", configuration)
      uploads = try Pipeline(baseURL: pipeline.baseURL.belowUpload, module: module)
        .add("files", configuration)
    } catch {
      throw .refused(error)
    }
  }

  /// All files, however many pages they fill.
  func list() async throws(Failure) -> [DriveFile] {
    try await attempt { () async throws(PipeError) in
      var list: [DriveFile] = []
      for try await page in files.pages(DriveFile.Page.self) { list += page.value.items }
      return list
    }
  }

  /// The file of an ID, or the only one of a title.
  func file(_ name: String) async throws(Failure) -> DriveFile {
    if let file = try await file(id: name) { return file }
    let found = try await list().filter { $0.id == name || $0.title == name }
    guard let file = found.first else {
      throw Failure(
        "no_file", "there is no file \"\(name.printable)\"", status: .notAuthorized)
    }
    guard found.count == 1 else {
      throw Failure(
        "file_ambiguous",
        "\(found.count) files are called \"\(name.printable)\"; name one by its ID",
        status: .wrongUsage
      ).withHint(FileTable(found).text)
    }
    return file
  }

  /// The file of an ID; `nil` where there is none, or where the text is no ID at all.
  private func file(id: String) async throws(Failure) -> DriveFile? {
    let isID = id.utf8.allSatisfy { byte in
      let letter = Character(UnicodeScalar(byte))
      return letter.isASCII && (letter.isLetter || letter.isNumber || "-_".contains(letter))
    }
    guard isID else { return nil }
    return try await attempt { () async throws(PipeError) in
      do throws(PipeError) {
        return try await files.read(DriveFile.self, id: id)
      } catch {
        guard error.refusal?.status == 404 else { throw error }
        return nil
      }
    }
  }

  /// Brings a file's content here.
  func get(_ file: DriveFile, to path: String, progress: Progress?) async throws(Failure) {
    try await attempt { () async throws(PipeError) in
      try await files.download(
        id: file.id, parameters: ["alt": "media"], to: URL(filePath: path), progress: progress)
    }
  }

  /// Adds a file with a content.
  func put(
    _ content: HTTPRequestBody, title: String, progress: Progress?
  ) async throws(Failure) -> DriveFile {
    let file = try await attempt { () async throws(PipeError) in
      try await uploads.upload(
        content, parameters: ["uploadType": "media", "title": title],
        returning: DriveFile.self, progress: progress)
    }
    // Google takes the content only, and the title from no parameter.
    return file.title == title ? file : try await rename(file, to: title)
  }

  /// Gives a file another title.
  func rename(_ file: DriveFile, to title: String) async throws(Failure) -> DriveFile {
    struct Change: Encodable {
      let id: String
      let title: String
    }
    return try await attempt { () async throws(PipeError) in
      try await files.save(Change(id: file.id, title: title), returning: DriveFile.self)
    }
  }

  /// Deletes a file.
  func delete(_ file: DriveFile) async throws(Failure) {
    try await attempt { () async throws(PipeError) in try await files.remove(id: file.id) }
  }

  private func attempt<Value>(
    _ body: () async throws(PipeError) -> Value
  ) async throws(Failure) -> Value {
    do throws(PipeError) {
      return try await body()
    } catch {
      throw failure(error)
    }
  }
}

extension URL {
  /// The same path below `/upload`.
  fileprivate var belowUpload: URL {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
    parts.percentEncodedPath = "/upload" + parts.percentEncodedPath
    return parts.url ?? self
  }
}
