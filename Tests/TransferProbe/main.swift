// Uploads and downloads in a process of its own, for the tests:
// `transfer-probe upload URL FILE` or `transfer-probe download URL FILE`
import Foundation
import SequencingOAuth

/// The largest resident size so far, in kB.
func peak() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  let words = line?.split(whereSeparator: \.isWhitespace) ?? []
  return words.dropFirst().first.flatMap { Int($0) } ?? 0
}

/// Writes a line at once.
@Sendable func say(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

func upload(_ url: URL, _ file: URL) async throws -> Int {
  var request = HTTPRequest(method: "POST", url: url)
  request.timeout = nil
  try request.setForm([.field("title", "a file"), .file("content", file), .field("end", "yes")])
  let meter = TransferMeter { if $0.fraction == 1 { say("sent \($0.completed)") } }
  meter.followUpload(of: &request)
  let status = try await CurlHTTPClient.shared.send(request).status
  meter.finish()
  return status
}

func download(_ url: URL, _ file: URL) async throws -> Int {
  var request = HTTPRequest(url: url)
  request.timeout = nil
  let download = ResumableDownload(request, to: file) { say("received \($0.completed)") }
  return try await download.run { request throws(SQOAuthError) in
    try await CurlHTTPClient.shared.send(request)
  }.status
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let url = URL(string: arguments[2]) else {
  say("transfer-probe upload|download URL FILE")
  exit(2)
}
// A file that is too long for the process is an error of the write, not its end.
signal(SIGXFSZ, SIG_IGN)
do {
  let before = try peak()
  let file = URL(filePath: arguments[3])
  let status =
    arguments[1] == "upload" ? try await upload(url, file) : try await download(url, file)
  say("status \(status)")
  say("growth \(try peak() - before)")
} catch let error as SQOAuthError {
  // The code first, for the tests to compare.
  FileHandle.standardError.write(Data("error \(error.code): \(error.message)\n".utf8))
  exit(1)
}
