import Foundation
import SwitchyardBytes

/// Output for people and programs. A full disk or a reader that has gone ends neither a check nor a server.
enum Terminal {
    /// - Returns: Whether someone still reads it.
    @discardableResult
    static func print(_ text: String) -> Bool { write(text + "\n", to: 1) }

    @discardableResult
    static func print(_ bytes: [UInt8]) -> Bool { POSIXFile.write(bytes + [UInt8(ascii: "\n")], to: 1) != EPIPE }

    /// Bytes without a line break.
    static func write(_ bytes: [UInt8]) -> Bool { POSIXFile.write(bytes, to: 1) != EPIPE }

    static func errorWithoutBreak(_ text: String) { write(text, to: 2) }
    static func error(_ text: String) { write(text + "\n", to: 2) }

    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        POSIXFile.write(Array(text.utf8), to: descriptor) != EPIPE
    }

    /// A closed pipe is then an error of the write, and not the end of this process.
    static func survivesClosedPipes() { signal(SIGPIPE, SIG_IGN) }

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Whether colours are understood and wanted: see no-color.org.
    static func hasColour(
        _ descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
        isTerminal(descriptor) && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// The columns of the terminal; 100 where there is none.
    static func width(_ descriptor: Int32 = 1) -> Int {
        var size = winsize()
        if isTerminal(descriptor), ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            return Int(size.ws_col)
        }
        return 100
    }
}

enum Colour: String {
    case red = "31"
    case green = "32"
    case yellow = "33"
    case bold = "1"

    func applied(to text: String, _ isWanted: Bool) -> String {
        isWanted ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
