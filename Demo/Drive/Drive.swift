import SQBasics
import SQFiles
import SQFoundation
import SQLibC
import SequencingOAuth
import SequencingOAuthPipes

/// The files of an account, accessed with pipes that sign the user in if necessary.
struct Drive: Sendable {
  typealias Progress = @Sendable (TransferProgress) -> Void

  private let files: Pipeline.Pipe
  private let uploads: Pipeline.Pipe
  private let failure: @Sendable (PipeError) -> Failure

  /// Creates the pipes of a drive, without sending anything.
  ///
  /// The files are at `base` followed by `/files`. Contents are sent to the same path after
  /// `/upload`, as in Google's API.
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

  /// Lists all files, from all pages.
  func list() async throws(Failure) -> [DriveFile] {
    try await attempt { () async throws(PipeError) in
      var list: [DriveFile] = []
      for try await page in files.pages(DriveFile.Page.self) { list += page.value.items }
      return list
    }
  }

  /// Finds a file by its ID, or by a title that only one file has.
  func file(_ name: String) async throws(Failure) -> DriveFile {
    if let file = try await file(id: name) { return file }
    let found = try await list().filter { $0.id == name || $0.title == name }
    guard let file = found.first else {
      throw Failure(
        "no_file", "there is no file \"\(name.onScreen)\"", status: .notAuthorized)
    }
    guard found.count == 1 else {
      throw Failure(
        "file_ambiguous",
        "\(found.count) files are called \"\(name.onScreen)\"; use the ID of one of them",
        status: .wrongUsage
      ).withHint(FileTable(found).text)
    }
    return file
  }

  /// Finds a file by its ID, and returns `nil` if there is none or if the text cannot be an ID.
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

  /// Downloads the content of a file to a path, and with `replacing` replaces an existing file
  /// there.
  func get(
    _ file: DriveFile, to path: String, replacing: Bool, progress: Progress?
  ) async throws(Failure) {
    do throws(PipeError) {
      try await files.download(
        id: file.id, parameters: ["alt": "media"], to: URL(unexpandedPath: path),
        replacing: replacing, progress: progress)
    } catch {
      guard case .failed(let reason) = error, (reason.cause as? FileError)?.code == EEXIST else {
        throw failure(error)
      }
      throw failure(error).withHint("Name another file with --output.")
    }
  }

  /// Uploads a new file.
  func put(
    _ content: WebRequestBody, title: String, progress: Progress?
  ) async throws(Failure) -> DriveFile {
    let file = try await attempt { () async throws(PipeError) in
      try await uploads.upload(
        content, parameters: ["uploadType": "media", "title": title],
        returning: DriveFile.self, progress: progress)
    }
    // Google ignores the title parameter, so the title needs a second request.
    return file.title == title ? file : try await rename(file, to: title)
  }

  /// Changes a file's title.
  func rename(_ file: DriveFile, to title: String) async throws(Failure) -> DriveFile {
    struct Change: Encodable {
      let id: String
      let title: String
    }
    return try await attempt { () async throws(PipeError) in
      try await files.save(Change(id: file.id, title: title), returning: DriveFile.self)
    }
  }

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
  /// The URL with `/upload` before its path.
  fileprivate var belowUpload: URL {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
    parts.percentEncodedPath = "/upload" + parts.percentEncodedPath
    return parts.url ?? self
  }
}
