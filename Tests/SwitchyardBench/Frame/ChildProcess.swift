import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport

/// Another process of this program, for a measurement that needs a fresh one.
enum ChildProcess {
    static let flag = "--child"

    static func run(_ task: String, area: String, section: String, _ settings: BenchSettings) async throws -> Double {
        let child = try await TestProgram.finished(
            [executablePath, flag, area, section, task] + (settings.isQuick ? ["--quick"] : []))
        let word = child.text.split(whereSeparator: \.isWhitespace).last.map(String.init)
        guard child.status == 0, let value = word.flatMap(Double.init) else {
            throw BenchFailure(
                "the process for \(section)/\(task) ended with status \(child.status). \(child.errors)")
        }
        return value
    }

    /// Begins a task whose value no one reads, to be killed.
    static func start(
        _ task: String, area: String, section: String, _ settings: BenchSettings
    ) throws -> SpawnedProcess {
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(nowhere) }
        return try SpawnedProcess(
            executablePath, [flag, area, section, task] + (settings.isQuick ? ["--quick"] : []),
            environment: ProcessInfo.processInfo.environment, output: nowhere, errors: nowhere)
    }

    /// The child's side: runs the task and prints its value.
    static func serve(_ arguments: [String]) async {
        do {
            guard arguments.count >= 3,
                let section = BenchArea.all.first(where: { $0.name == arguments[0] })?.sections
                    .first(where: { $0.name == arguments[1] })
            else { throw BenchFailure("no such task") }
            let settings = BenchSettings(isQuick: arguments.contains("--quick"))
            print(try await section.runChild(arguments[2], settings))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(2)
        }
    }

    static var executablePath: String {
        let own = "/proc/self/exe"
        return (try? FileManager.default.destinationOfSymbolicLink(atPath: own)) ?? CommandLine.arguments[0]
    }
}
