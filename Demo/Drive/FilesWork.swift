import SQBasics
import SQFiles
import SQFoundation
import SequencingOAuth

/// The task of one run of the command `files`.
enum FilesWork: Sendable, Equatable {
  case list
  case get(String, to: String?)
  case put(String, title: String?)
  case rename(String, to: String)
  case delete(String)

  init(_ arguments: Arguments) throws(Failure) {
    let operands = arguments.operands
    for (option, action) in [(Option.output, "get"), (.title, "put")]
    where arguments.contains(option) && arguments.action != action {
      throw .usage("\(option.name) is for 'files \(action)'")
    }
    switch arguments.action {
    case "get": self = .get(operands[0], to: arguments[.output])
    case "put": self = .put(operands[0], title: arguments[.title])
    case "rename": self = .rename(operands[0], to: operands[1])
    case "delete": self = .delete(operands[0])
    default: self = .list
    }
  }

  /// Makes all checks that need no server, and returns the content of the file to upload, if any.
  func prepare() throws(Failure) -> WebRequestBody {
    switch self {
    case .put(let path, let title):
      if title == nil, FileReading.isThere(path), !FileReading.isFile(path) {
        throw .usage("--title is needed: \(path.onScreen) is not a file")
      }
      return try Failure.reading(path) { () throws(FileReading.ReadError) in
        try WebRequestBody(contentOf: path)
      }
    case .get(_, to: "-"?):
      throw .usage("--output takes a file's path; to print the content, use 'sq-demo call'")
    case .rename(_, to: ""):
      throw .usage("TITLE is empty")
    case .list, .get, .rename, .delete:
      return .empty
    }
  }

  /// Does the task and prints its result; `content` is the content of the file to upload.
  func run(_ drive: Drive, _ content: WebRequestBody, _ report: FilesReport) async throws(Failure) {
    switch self {
    case .list:
      try report.list(try await drive.list())
    case .get(let name, let path):
      let file = try await drive.file(name)
      let destination = if let path { path } else { try Self.unused(file.localName) }
      do throws(Failure) {
        try await report.console.showingProgress(of: file.title) { progress throws(Failure) in
          try await drive.get(
            file, to: destination, replacing: path != nil, progress: progress)
        }
      } catch {
        throw error.tellingOf("\(destination).partial")
      }
      try report.done(file, "Saved as \(destination.onScreen).")
    case .put(let path, let title):
      let title = title ?? URL(unexpandedPath: path).lastPathComponent
      let file = try await report.console.showingProgress(of: title) {
        progress throws(Failure) in
        try await drive.put(content, title: title, progress: progress)
      }
      try report.list([file])
    case .rename(let name, let title):
      try report.list([try await drive.rename(try await drive.file(name), to: title)])
    case .delete(let name):
      let file = try await drive.file(name)
      try await drive.delete(file)
      try report.done(file, "Deleted \"\(file.title.onScreen)\".")
    }
  }

  /// Returns the name; fails if a file of this name exists, because a title from the server must
  /// not make a download replace a local file.
  private static func unused(_ name: String) throws(Failure) -> String {
    guard !FileReading.isThere(name) else {
      throw Failure(
        "file_exists", "a file \(name.onScreen) already exists here", status: .wrongUsage
      ).withHint("Name another file with --output, or this file to replace it.")
    }
    return name
  }
}

extension Failure {
  /// Returns this failure, with a hint if the download can be continued.
  fileprivate func tellingOf(_ partial: String) -> Failure {
    guard hint == nil, FileReading.isThere("\(partial).info") else { return self }
    return withHint(
      "The first part of the file is in \(partial.onScreen). "
        + "Run the same command again to continue.")
  }
}

/// The output of the command `files`.
struct FilesReport: Sendable {
  let console: Console
  let printsJSON: Bool

  /// Prints a line for each file.
  func list(_ files: [DriveFile]) throws(Failure) {
    guard printsJSON else {
      guard !files.isEmpty else { return console.progress("There are no files.") }
      return try console.result(FileTable(files).text)
    }
    for file in files { try console.result(try oneLineOfJSON(file)) }
  }

  /// Prints the result of a change to a file: the sentence, or the file as JSON.
  func done(_ file: DriveFile, _ sentence: String) throws(Failure) {
    try console.result(printsJSON ? try oneLineOfJSON(file) : sentence)
  }
}
