import Foundation

/// The place and time of a run, printed at the top of every report, since figures are meaningless without it.
struct BenchMachine: Codable, Sendable {
    let processor: String
    let cores: Int
    let memoryBytes: UInt64
    let system: String
    /// `release` or `debug`; only the first gives valid figures.
    let build: String
    let date: String
    /// The number of processes that wanted to run during the minute before the run, and may have disturbed it.
    let load: Double?

    static func current() -> BenchMachine {
        let info = ProcessInfo.processInfo
        return BenchMachine(
            processor: processorName ?? "unknown processor", cores: info.activeProcessorCount,
            memoryBytes: info.physicalMemory, system: info.operatingSystemVersionString, build: build,
            date: Date.now.formatted(.iso8601), load: loadAverage)
    }

    var lines: [String] {
        let memory = BenchTable.number(Double(memoryBytes) / 0x1p30)
        let noise = load.map { ", load \(BenchTable.number($0)) before" } ?? ""
        return [
            "\(processor), \(cores) cores, \(memory) GiB", "\(system), \(build) build, \(date)\(noise)",
        ]
    }

    private static var build: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    private static var processorName: String? {
        #if os(Linux) || os(Android)
            let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
            let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
            return line?.split(separator: ":").last.map { $0.trimmingPrefix(while: \.isWhitespace) }.map(String.init)
        #elseif canImport(Darwin)
            var size = 0
            guard sysctlbyname("machdep.cpu.brand_string", nil, &size, nil, 0) == 0, size > 1 else { return nil }
            var bytes = [UInt8](repeating: 0, count: size)
            guard sysctlbyname("machdep.cpu.brand_string", &bytes, &size, nil, 0) == 0 else { return nil }
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
            return nil
        #endif
    }

    private static var loadAverage: Double? {
        #if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
            var load = 0.0
            return getloadavg(&load, 1) == 1 ? load : nil
        #else
            return nil
        #endif
    }
}
