import Foundation
import SQBasics
import SequencingOAuth
// Uploads and downloads in a separate process, for the tests: `transfer-probe upload URL FILE` or
// `transfer-probe download URL FILE [BYTES]`. With BYTES, the process suspends itself (SIGSTOP)
// after it has received BYTES more bytes than were stored. `transfer-probe save URL FILE` writes the
// response to a file. `transfer-probe send URL SECONDS` sends two requests, the second with a time
// limit. `transfer-probe cancel URL FIFO` cancels a request during its DNS lookup, which must read
// the FIFO.
import SequencingOAuthPipes

/// Returns the largest resident size so far, in kB.
func peak() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  let words = line?.split(whereSeparator: \.isWhitespace) ?? []
  return words.dropFirst().first.flatMap { Int($0) } ?? 0
}

/// Writes a line without buffering.
@Sendable func say(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

func upload(_ url: URL, _ file: URL) async throws -> Int {
  var request = WebRequest(method: "POST", url: url)
  request.timeout = nil
  try request.setForm([.field("title", "a file"), .file("content", file), .field("end", "yes")])
  let meter = TransferMeter { if $0.fraction == 1 { say("sent \($0.completed)") } }
  meter.followUpload(of: &request)
  let status = try await CurlTransport.shared.send(request).status
  meter.finish()
  return status
}

func download(_ url: URL, _ file: URL, stopsAfter limit: Int64?) async throws -> Int {
  var request = WebRequest(url: url)
  request.timeout = nil
  let first = Locked<Int64?>(nil)
  let download = ResumableDownload(request, to: file) { progress in
    say("received \(progress.completed)")
    let start = first.withLock { first in
      first = first ?? progress.completed
      return first ?? 0
    }
    if let limit, progress.completed >= start + limit { raise(SIGSTOP) }
  }
  return try await download.run { request throws(SQOAuthError) in
    try await CurlTransport.shared.send(request)
  }.status
}

/// Writes a response to a file that the HTTP client opens.
func save(_ url: URL, _ file: URL) async throws -> Int {
  var request = WebRequest(url: url)
  request.destination = .file(file)
  return try await CurlTransport.shared.send(request).status
}

/// Sends two requests, the second with a time limit, and returns the status of the second.
///
/// The second request uses the connection of the first one. After opening a connection, libcurl
/// polls its sockets for a while; with a kept connection it does not.
func sendTwice(_ url: URL, within limit: Duration) async throws -> Int {
  var request = WebRequest(method: "POST", url: url, body: .bytes(Data("x=y".utf8)))
  request.timeout = .seconds(60)
  _ = try await CurlTransport.shared.send(request)
  request.timeout = limit
  return try await CurlTransport.shared.send(request).status
}

/// Cancels a request after its DNS lookup has opened a FIFO, which has no content until the request
/// has ended.
func cancelInLookup(_ url: URL, _ fifo: URL) async throws -> Int {
  var configuration = HTTPTransportConfiguration()
  configuration.proxy = .none
  let client = CurlTransport(configuration: configuration)
  let task = Task { try await client.send(WebRequest(url: url)).status }
  // The call returns once the lookup has opened the other end.
  let end = await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: open(fifo.path, O_WRONLY)) }
  }
  defer { close(end) }
  task.cancel()
  return try await task.value
}

let arguments = CommandLine.arguments
guard (4...5).contains(arguments.count), let url = URL(string: arguments[2]) else {
  say(
    "usage: transfer-probe upload URL FILE, download URL FILE [BYTES], save URL FILE, send URL "
      + "SECONDS, or cancel URL FIFO")
  exit(2)
}
// A file too large for the process's limit must cause a write error instead of ending the process.
signal(SIGXFSZ, SIG_IGN)
do {
  let before = try peak()
  let file = URL(filePath: arguments[3])
  let limit = Duration.seconds(Int64(arguments[3]) ?? 0)
  let status =
    switch arguments[1] {
    case "upload": try await upload(url, file)
    case "save": try await save(url, file)
    case "send": try await sendTwice(url, within: limit)
    case "cancel": try await cancelInLookup(url, file)
    default:
      try await download(
        url, file, stopsAfter: arguments.dropFirst(4).first.flatMap { Int64($0) })
    }
  say("status \(status)")
  say("growth \(try peak() - before)")
} catch let error as SQOAuthError {
  // The code comes first, so that tests can compare it.
  FileHandle.standardError.write(Data("error \(error.code): \(error.message)\n".utf8))
  exit(1)
}
