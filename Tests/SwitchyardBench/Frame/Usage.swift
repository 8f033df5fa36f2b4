import Foundation

/// The resources that this process has used so far.
enum Usage {
    /// User and system time of all threads.
    static var cpuSeconds: Double {
        let usage = usage
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// How often a thread of this process has slept until something happened: each time one has to be woken.
    static var wakeUps: Int { Int(usage.ru_nvcsw) }

    /// The peak resident memory. It only grows during a process, so ask in a child (`Bench.inChild`).
    static var peakResidentBytes: Int {
        #if os(Linux) || os(Android)
            // Not `ru_maxrss`, which a child inherits from its parent on this system.
            guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
                let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
                let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
            else { return 0 }
            return kilobytes * 1024
        #else
            Int(usage.ru_maxrss)
        #endif
    }

    /// The current resident memory; zero if the system does not report it.
    static var residentBytes: Int {
        #if os(Linux) || os(Android)
            guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
                let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
            else { return 0 }
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        #else
            0
        #endif
    }

    private static var usage: rusage {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        return usage
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
