import Foundation

/// Another process of this program, which serves on a port until it is told to stop.
final class ChildServer: @unchecked Sendable {
    // `@unchecked Sendable`: `port` and `details` are immutable. `process` and `input` are constants whose objects are not
    // shared; only `init` and `stop` use them, and a section calls `stop` once, after everything that has used the server has
    // returned.

    let port: Int
    /// What the server prints besides its port.
    let details: [String]
    private let process = Process()
    private let input = Pipe()

    init(area: String = "wire", section: String, _ settings: BenchSettings = BenchSettings()) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: ChildProcess.executablePath)
        process.arguments = [ChildProcess.flag, area, section, "serve"] + (settings.isQuick ? ["--quick"] : [])
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A { line.append(byte) }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
        guard let port = words.first.flatMap({ Int($0) }) else {
            process.terminate()
            throw BenchFailure("the server did not report its port")
        }
        self.port = port
        details = Array(words.dropFirst())
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
