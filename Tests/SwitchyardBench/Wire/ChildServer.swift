import Foundation
import SwitchyardLocalFirebase
import SwitchyardServerKit

/// Another process of this program, which serves on a port until it is told to stop.
final class ChildServer: Sendable {
    let port: Int
    /// What the server prints besides its port.
    let details: [String]
    private let process: SpawnedProcess
    private let input: FileHandle

    init(area: String = "wire", section: String, _ settings: BenchSettings = BenchSettings()) throws {
        let (typed, printed) = (try PipeEnds(), try PipeEnds())
        input = FileHandle(fileDescriptor: typed.writer, closeOnDealloc: true)
        let output = FileHandle(fileDescriptor: printed.reader, closeOnDealloc: true)
        defer { close(typed.reader) }
        process = try SpawnedProcess(
            ChildProcess.executablePath,
            [ChildProcess.flag, area, section, "serve"] + (settings.isQuick ? ["--quick"] : []),
            environment: ProcessInfo.processInfo.environment, input: typed.reader,
            output: printed.writer)
        close(printed.writer)
        var line: [UInt8] = []
        while let byte = try output.read(upToCount: 1)?.first, byte != 0x0A { line.append(byte) }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
        guard let port = words.first.flatMap({ Int($0) }) else {
            process.send(SIGTERM)
            throw BenchFailure("the server did not report its port")
        }
        self.port = port
        details = Array(words.dropFirst())
    }

    func stop() {
        try? input.close()
        process.wait()
    }
}

extension ChildServer {
    /// The child's side: a local Firebase that serves until it is told to stop.
    static func serve(_ firebase: LocalFirebase) async throws {
        print(firebase.port)
        fflush(nil)
        while let data = try FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
        await firebase.stop()
    }
}
