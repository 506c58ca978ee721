package import Foundation
import Synchronization

/// A terminal without a window: the program has one end, and the test acts as the person at the
/// other end.
package final class PseudoTerminal: Sendable {
  /// `TIOCSPTLCK` and `TIOCGPTN`, which are macros that Swift cannot import.
  private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

  /// The program's end.
  package let handle: FileHandle
  private let person: FileHandle
  private let shown = Mutex(Shown())

  private struct Shown {
    var bytes = Data()
    var picture = TerminalPicture()
    /// The number of complete frames when the person last pressed keys.
    var framesBefore = 0
  }

  package init(columns: UInt16 = 80, rows: UInt16 = 30) throws {
    // The terminal is opened by hand, because Swift's Glibc module lacks posix_openpt and the
    // related functions.
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    var number: Int32 = 0
    guard master >= 0, ioctl(master, Self.setLock, &isLocked) == 0,
      ioctl(master, Self.getNumber, &number) == 0
    else { throw POSIXError(.ENXIO) }
    person = FileHandle(fileDescriptor: master, closeOnDealloc: true)
    let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard slave >= 0 else { throw POSIXError(.ENXIO) }
    handle = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    resize(columns: columns, rows: rows)
    Thread.detachNewThread { [weak self, person] in
      var bytes = [UInt8](repeating: 0, count: 4096)
      // FileHandle's own method would wait until the buffer is full.
      while case let count = read(person.fileDescriptor, &bytes, bytes.count), count > 0 {
        guard let self else { return }
        shown.withLock { shown in
          shown.bytes.append(contentsOf: bytes[..<count])
          shown.picture.add(bytes[..<count])
        }
      }
    }
  }

  package func resize(columns: UInt16, rows: UInt16) {
    // The fields of the C type `winsize`, which Swift does not import on every Linux.
    var numbers = [rows, columns, 0, 0]
    _ = ioctl(person.fileDescriptor, UInt(TIOCSWINSZ), &numbers)
    shown.withLock { $0.picture.columns = Int(columns) }
  }

  package func press(_ keys: String) throws {
    shown.withLock { $0.framesBefore = $0.picture.frames.count }
    try person.write(contentsOf: Data(keys.utf8))
  }

  /// Everything that the program has sent, with its control sequences.
  package var everything: String { shown.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

  /// The text of the last complete frame.
  package var frame: String { shown.withLock { $0.picture.frames.last ?? "" } }

  /// The number of complete frames.
  package var frameCount: Int { shown.withLock { $0.picture.frames.count } }

  /// Returns the newest frame with a text since the last key press.
  ///
  /// The frame that was on the screen at the key press counts too. The frame with the text need not
  /// be the last one, because the program may draw further frames at any moment.
  package func frame(with text: String) -> String? {
    shown.withLock { shown in
      shown.picture.frames.dropFirst(max(0, shown.framesBefore - 1)).last { $0.contains(text) }
    }
  }

  /// The terminal's modes, such as echo, line input, and the keys that send signals.
  package var modes: [UInt32] {
    var settings = termios()
    tcgetattr(handle.fileDescriptor, &settings)
    return [settings.c_iflag, settings.c_oflag, settings.c_lflag]
  }
}

/// The content of a terminal, as far as the demo's screens need it.
///
/// A text that is longer than a row of the terminal is one line of a frame. The row numbers are
/// those of the terminal, where such a text takes several rows.
private struct TerminalPicture {
  var columns = 80
  /// The screen at the end of each frame: its rows, separated by `\r\n`.
  var frames: [String] = []
  private var rows: [Int: String] = [:]
  private var row = 1
  private var rest: [UInt8] = []

  /// The sequence at the end of a frame.
  private static let frameEnd = "[?2026l"

  mutating func add(_ bytes: some Sequence<UInt8>) {
    rest += bytes
    while let byte = rest.first {
      switch byte {
      case 0x1B:
        // The sequence may be incomplete.
        guard let end = rest.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
          return
        }
        obey(String(decoding: rest[1...end], as: UTF8.self))
        rest.removeSubrange(...end)
      case 0x0D:
        rest.removeFirst()
      case 0x0A:
        rest.removeFirst()
        let length = rows[row]?.count ?? 0
        row += max(1, (length + columns - 1) / max(1, columns))
        rows[row] = nil
      default:
        guard let end = rest.firstIndex(where: { [0x1B, 0x0D, 0x0A].contains($0) }) else { return }
        rows[row, default: ""] += String(decoding: rest[..<end], as: UTF8.self)
        rest.removeSubrange(..<end)
      }
    }
  }

  private mutating func obey(_ sequence: String) {
    switch sequence.last {
    case "H":
      row = Int(sequence.dropFirst().prefix { $0.isNumber }) ?? 1
      rows[row] = nil
    case "J" where sequence == "[2J": rows = [:]
    case "J": rows = rows.filter { $0.key <= row }
    default:
      guard sequence == Self.frameEnd else { return }
      let last = rows.keys.max() ?? 0
      frames.append(
        (0..<last).map { row in
          String((rows[row + 1] ?? "").reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\r\n"))
    }
  }
}
