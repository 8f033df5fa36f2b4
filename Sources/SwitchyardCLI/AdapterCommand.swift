import Foundation
import SwitchyardBytes

/// `switchyard adapter`
struct AdapterCommand: ToolCommand {
    /// `nil` lists all.
    private let adapter: Adapter?
    private let output: String?

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("adapter"))
        output = given["--output"]
        guard let name = given.arguments.first else {
            guard output == nil else {
                throw UsageError("“adapter” needs a name: \(Adapter.names.joined(separator: ", "))")
            }
            adapter = nil
            return
        }
        guard let adapter = Adapter(rawValue: name) else {
            throw UsageError.unknown("adapter", name, among: Adapter.names)
        }
        self.adapter = adapter
    }

    func run() -> ExitStatus {
        guard let adapter else {
            Terminal.print(AdapterCommand.list)
            return .success
        }
        guard let output else {
            // The text ends its last line itself.
            Terminal.print(String(adapter.text.dropLast()))
            return .success
        }
        return write(adapter, to: output)
    }

    private func write(_ adapter: Adapter, to path: String) -> ExitStatus {
        func refused(_ reason: String, _ cure: String) -> ExitStatus {
            Terminal.error(
                "switchyard: writing the adapter “\(adapter.rawValue)” to “\(path)” failed: \(reason). \(cure)")
            return .failure
        }
        // A file that is there may be an earlier copy with changes.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let code = errno
            return code == EEXIST
                ? refused("the file exists", "Choose another name, or move the file away.")
                : refused(SystemFailure(code).description, "Choose a folder that exists and may be written.")
        }
        defer { close(descriptor) }
        if let code = POSIXFile.write(Array(adapter.text.utf8), to: descriptor) {
            unlink(path)
            return refused(SystemFailure(code).description, "Make room, or choose another folder.")
        }
        Terminal.print("Wrote \(path). Add it to a target that depends on \(adapter.needs).")
        return .success
    }

    static let list = """
        \(Adapter.allCases.map { "switchyard adapter \($0.paddedName)\($0.summary)" }
            .joined(separator: "\n"))

        Each prints one Swift file for your own package, which it then belongs to; --output FILE writes it there.
        """
}

/// A file for a package that uses this one together with another library.
enum Adapter: String, CaseIterable {
    case dependencies, sharing, vapor, hummingbird, log, metrics

    static let names = allCases.map(\.rawValue)

    /// As wide as a column of the list.
    fileprivate var paddedName: String { rawValue + String(repeating: " ", count: max(1, 13 - rawValue.count)) }

    var summary: String {
        switch self {
        case .dependencies: "all clients as dependencies of swift-dependencies"
        case .sharing: "live queries as shared state of swift-sharing"
        case .vapor: "Vapor: middleware that verifies tokens and gives requests their sender's clients"
        case .hummingbird: "Hummingbird: the same"
        case .log: "an observer that writes to swift-log"
        case .metrics: "an observer that counts and measures with swift-metrics"
        }
    }

    /// The products that the file imports.
    var needs: String {
        switch self {
        case .dependencies: "Switchyard, SwitchyardMock and Dependencies"
        case .sharing: "Switchyard, Dependencies and Sharing; put the adapter “dependencies” beside it"
        case .vapor: "Switchyard and Vapor"
        case .hummingbird: "Switchyard, Hummingbird and Logging"
        case .log: "Switchyard and Logging"
        case .metrics: "Switchyard and Metrics"
        }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    private var bytes: [UInt8] {
        switch self {
        case .dependencies: PackageResources.dependencies_swift_txt
        case .sharing: PackageResources.sharing_swift_txt
        case .vapor: PackageResources.vapor_swift_txt
        case .hummingbird: PackageResources.hummingbird_swift_txt
        case .log: PackageResources.log_swift_txt
        case .metrics: PackageResources.metrics_swift_txt
        }
    }
}
