import SQBasics
import SQFoundation
import SQLoopback

/// Functions that apply a misbehaviour to an endpoint's answer.
enum Misbehaving {
  /// Returns the reply to a request.
  ///
  /// `work` processes the request. Its second argument is the misbehaviour that is due for a part
  /// of the answer, such as the ID token.
  static func reply(
    _ kind: SandboxMisbehaviour.Kind?, to request: SandboxRequest,
    process work: @Sendable (SandboxRequest, _ due: SandboxMisbehaviour.Kind?) -> Answer
  ) async -> LoopbackReply {
    func process() -> Answer { work(request, nil) }
    switch kind {
    case .delay(let duration, let other):
      // If the client disconnects, this task is cancelled, and the request has no effect.
      do { try await Task.sleep(for: duration.bounded) } catch { return .script([]) }
      return await reply(other, to: request, process: work)
    case .hold(let isReleased, let other):
      await isReleased()
      if Task.isCancelled { return .script([]) }
      return await reply(other, to: request, process: work)
    case .unread(let other):
      return await reply(other, to: request, process: work)
    case .answer(let answer, let afterProcessing):
      if afterProcessing { _ = process() }
      return .response(answer.response)
    case .endlessStepUp:
      let refusal = TokenRefusal.insufficientLogin([Crypto.secret("urn:sandbox:")], maxAge: nil)
      return .response(refusal.answer.response)
    case .cut(let cut, let reset):
      return .script(steps(cut, process) + (reset ? [.reset] : []))
    case .truncated:
      let answer = process()
      var response = answer.response
      response.body = response.body.prefix(response.body.count / 2)
      return .response(response)
    case .oversize(let bytes):
      var response = process().response
      let missing = max(0, bytes - response.body.count)
      response.body.append(Data(repeating: 0x20, count: missing))
      return .response(response)
    case .endless:
      let answer = process()
      return .script([
        .send(head(answer, length: nil)), .send(answer.body),
        .sendForever(Data(repeating: 0x20, count: 1024)),
      ])
    case .drip(let count, let interval):
      let answer = process()
      let bytes = head(answer, length: answer.body.count) + answer.body
      let starts = stride(from: bytes.startIndex, to: bytes.endIndex, by: count)
      return .script(
        starts.flatMap { [LoopbackStep.send(bytes[$0...].prefix(count)), .wait(interval)] })
    case .part(let count, let end):
      let answer = process()
      let body = answer.body
      return .script(
        [.send(head(answer, length: body.count)), .send(body.prefix(count))] + steps(end))
    case .field(let name, let value):
      var answer = process()
      answer.headers.removeAll { $0.name.lowercased() == name.lowercased() }
      if let value { answer.headers.append((name, value)) }
      return .response(answer.response)
    case .ignoring(let fields):
      return .response(work(request.without(fields), nil).response)
    case .members(let members):
      var answer = process()
      if case .json(var json) = answer.content {
        for member in members { json = json.setting(member.name, to: member.value) }
        answer.content = .json(json)
      }
      return .response(answer.response)
    case nil, .alter, .errorRedirect, .addToRedirect, .idToken, .alteredIDToken, .keySet,
      .userInfo, .jwt, .alteredJWT, .dpop, .details,
      .signedResponse:
      return .response(work(request, kind).response)
    }
  }

  /// Returns the steps after the last byte of an incomplete answer.
  ///
  /// `silence` lasts longer than any client waits.
  private static func steps(_ end: SandboxMisbehaviour.End) -> [LoopbackStep] {
    switch end {
    case .close: []
    case .reset: [.reset]
    case .silence: [.wait(.seconds(24 * 3600))]
    }
  }

  private static func steps(
    _ cut: SandboxMisbehaviour.Cut, _ process: () -> Answer
  ) -> [LoopbackStep] {
    switch cut {
    case .beforeProcessing: return []
    case .afterProcessing:
      _ = process()
      return []
    case .duringAnswer:
      let answer = process()
      let body = answer.body
      return [.send(head(answer, length: body.count)), .send(body.prefix(body.count / 2))]
    }
  }

  /// Returns the head as bytes; without a length, the body lasts until the connection ends.
  private static func head(_ answer: Answer, length: Int?) -> Data {
    let length = length.map { [(name: "Content-Length", value: String($0))] } ?? []
    let fields = answer.headers + length + [("Connection", "close")]
    let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    return Data("HTTP/1.1 \(answer.status) Sandbox\r\n\(lines)\r\n".utf8)
  }
}
