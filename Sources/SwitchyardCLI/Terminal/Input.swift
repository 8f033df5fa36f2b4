import Foundation
import SwitchyardBytes

/// What comes from the standard input.
enum Input {
    static var isTerminal: Bool { isatty(0) == 1 }

    /// Everything up to the end. Someone at a terminal is told how to end it.
    static func all() -> [UInt8] {
        if isTerminal { Terminal.error("Type the JSON, then Ctrl-D on a line of its own:") }
        var bytes: [UInt8] = []
        while let chunk = some() { bytes += chunk }
        return bytes
    }

    /// What has arrived; `nil` at the end.
    static func some() -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(0, &chunk, chunk.count)
            if count > 0 { return Array(chunk[..<count]) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// Asks for a word that the terminal does not show; without a terminal, takes the first line.
    ///
    /// - Returns: `nil` after Ctrl-C, Ctrl-D, and at the end of the input.
    static func secret(_ question: String) -> String? {
        guard isTerminal else { return readLine() }
        var before = termios()
        tcgetattr(0, &before)
        var hidden = before
        // Without signals, so that nothing leaves the terminal as it is now.
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(0, TCSAFLUSH, &hidden)
        // What is typed from now on is taken, and not shown.
        Terminal.errorWithoutBreak(question)
        defer {
            tcsetattr(0, TCSAFLUSH, &before)
            Terminal.error("")
        }
        var typed: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = read(0, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            switch byte {
            case 0x0A, 0x0D: return String(decoding: typed, as: UTF8.self)
            case 0x03, 0x04: return nil
            // Backspace takes a character with all of its bytes.
            case 0x08, 0x7F: while let last = typed.popLast(), last & 0xC0 == 0x80 {}
            case 0x15: typed = []
            default: typed.append(byte)
            }
        }
    }
}

/// Divides bytes into lines as they arrive.
struct LineReader {
    private var rest: [UInt8] = []
    private var isAtEnd = false

    /// The next line that is not empty; `nil` at the end.
    mutating func next() -> [UInt8]? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(rest[..<end])
                rest.removeSubrange(...end)
                if !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return line }
            } else if isAtEnd {
                defer { rest = [] }
                return rest.isEmpty ? nil : rest
            } else if let more = Input.some() {
                rest += more
            } else {
                isAtEnd = true
            }
        }
    }
}
