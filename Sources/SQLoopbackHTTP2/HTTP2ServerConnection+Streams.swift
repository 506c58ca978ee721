import SQBasics
import SQHTTP2

// Answers to requests, called from the handlers' threads.
extension HTTP2ServerConnection {
  func respond(to stream: Int32, _ head: HeaderBlock, hasContent: Bool) {
    guard streams[stream] != nil else { return }
    session?.respond(to: stream, head, hasContent: hasContent)
  }

  func write(_ bytes: [UInt8], to stream: Int32) {
    streams[stream]?.output += bytes
    session?.resume(stream)
  }

  func tell(_ waiter: OneShot<Bool>, whenDrained stream: Int32) {
    guard let answer = streams[stream] else {
      news.drained.append((waiter, false))
      return
    }
    if answer.output.isEmpty {
      news.drained.append((waiter, true))
    } else {
      streams[stream]?.waiters.append(waiter)
    }
  }

  func end(_ stream: Int32, _ trailers: HeaderBlock?) {
    streams[stream]?.trailers = trailers
    streams[stream]?.isComplete = true
    session?.resume(stream)
  }

  func reset(_ stream: Int32, _ code: HTTP2ErrorCode) {
    session?.reset(stream, code)
  }
}

// What the HTTP/2 session calls: it passes on requests, and asks for the content of answers.
extension HTTP2ServerConnection: HTTP2SessionOwner {
  func sectionBegins(of stream: Int32) {
    if streams[stream] == nil { streams[stream] = Stream() }
  }

  func received(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, of stream: Int32
  ) -> Bool {
    // A few compressed bytes can expand to very many (RFC 9113, section 10.5.1).
    let size = (streams[stream]?.fieldBytes ?? 0) + name.count + value.count + 32
    guard size <= HTTP2Session.Settings().headerBytes else { return false }
    streams[stream]?.fieldBytes = size
    // No handler needs the trailers of a request.
    guard streams[stream]?.exchange == nil else { return true }
    streams[stream]?.fields.append(
      (String(decoding: name, as: UTF8.self), String(streamSafe: value)))
    return true
  }

  func sectionEnds(of stream: Int32, isEnd: Bool) {
    if let request = streams[stream], request.exchange == nil {
      let exchange = HTTP2Exchange(server, place, stream, fields: request.fields)
      streams[stream]?.exchange = exchange
      begin(exchange)
    }
    if isEnd { contentEnds(of: stream) }
  }

  func received(_ content: UnsafeRawBufferPointer, of stream: Int32) {
    session?.consumeOfConnection(content.count)
    session?.consume(content.count, of: stream)
    // The stream is changed in place. If this method used a copy of it, each call would copy all
    // earlier content.
    guard let count = streams[stream]?.content.count, streams[stream]?.isContentSettled == false
    else { return }
    guard count + content.count <= limits.contentBytes,
      buffered + content.count <= limits.connectionBytes
    else { return settle(stream, .tooLarge) }
    buffered += content.count
    streams[stream]?.content += content
  }

  func contentEnds(of stream: Int32) {
    guard let request = streams[stream] else { return }
    settle(stream, .whole(request.content))
  }

  private func settle(_ stream: Int32, _ content: HTTP2Exchange.Content) {
    guard let request = streams[stream], let exchange = request.exchange,
      !request.isContentSettled
    else { return }
    buffered -= request.content.count
    streams[stream]?.content = []
    streams[stream]?.isContentSettled = true
    news.contents.append((exchange, content))
  }

  func content(
    of stream: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) -> HTTP2Session.Piece {
    guard let answer = streams[stream] else { return .last(0) }
    let count = min(answer.output.count - answer.sent, buffer.count)
    buffer.copyBytes(from: answer.output[answer.sent..<(answer.sent + count)])
    streams[stream]?.sent += count
    if answer.sent + count < answer.output.count { return .bytes(count) }
    streams[stream]?.output = []
    streams[stream]?.sent = 0
    streams[stream]?.waiters = []
    news.drained += answer.waiters.map { ($0, true) }
    guard answer.isComplete else { return count > 0 ? .bytes(count) : .wait }
    return answer.trailers.map { .lastBeforeTrailers(count, $0) } ?? .last(count)
  }

  func closed(_ stream: Int32, _ code: HTTP2ErrorCode, isRemote: Bool) {
    if let ended = streams.removeValue(forKey: stream) { drop(ended) }
  }
}
