// `torture MINUTES`: many programs share accounts while a saboteur breaks what they depend on. At
// the end, every account must work, and a sign-in may be lost only for a cause that no client can
// prevent. `torture kills COUNT` kills programs around a server's answer instead, and counts the
// lost sign-ins.
import Foundation
import OAuthSandbox

let arguments = CommandLine.arguments.dropFirst()
let kills = arguments.first == "kills" ? arguments.last.flatMap { Int($0) } : nil
let minutes = kills == nil ? arguments.first.flatMap(Double.init) : 0
guard let minutes else {
  FileHandle.standardError.write(Data("usage: torture MINUTES, or torture kills COUNT\n".utf8))
  exit(2)
}
// With these folders, no program finds the accounts of the user who runs the test.
setenv("HOME", "/nonexistent", 1)
setenv("XDG_STATE_HOME", "/nonexistent", 1)
let folder = NSTemporaryDirectory() + "sq-torture-\(UUID().uuidString)"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
// Another user must be able to reach the stores.
chmod(folder, 0o755)
// For `kills`, the tokens expire at once, so that every program refreshes them.
let tokenLifetime: Duration = kills == nil ? .seconds(1) : .zero
let arena = try await Arena(folder: folder, tokenLifetime: tokenLifetime)
if let kills {
  try await Kills(arena: arena).run(kills)
  exit(0)
}
let tally = Tally(tokenLifetime: tokenLifetime)
let crowd = Crowd(arena, tally)
if !arena.hasRights { print("Not root: no disk is filled and no right is taken away.") }

let end = ContinuousClock.now + .seconds(60 * minutes)
async let crowding: Void = crowd.work(until: end, width: 4)
let saboteur = Saboteur(arena: arena, crowd: crowd, tally: tally)
async let sabotage: Void = saboteur.work(until: end)
await saboteur.work(until: end)
await crowding
await sabotage
arena.sandbox.behave()

// After all faults, each account must work.
var broken: [Account] = []
for account in arena.accounts {
  var works = false
  for _ in 0..<40 where !works {
    works = await crowd.use(account)
    if !works { try await Task.sleep(for: .milliseconds(500)) }
  }
  if !works { broken.append(account) }
}
print(tally.report)
let count = arena.accounts.count
print("Accounts that work at the end: \(count - broken.count) of \(count)")
for account in broken { print("  does not work: \(account)") }
exit(broken.isEmpty && tally.losses.isEmpty ? 0 : 1)
