import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// Single requests, and what the transport says of a server.
struct WebProbe: Sendable {
    private let transport: any Transport
    private let options: DoctorOptions

    init(_ transport: any Transport, _ options: DoctorOptions) {
        self.transport = transport
        self.options = options
    }

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]
        let duration: Duration

        var json: JSON { (try? JSON(parsing: body)) ?? .null }
        var isWebPage: Bool {
            let start = String(decoding: body.prefix(200), as: UTF8.self).trimmed.lowercased()
            return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
        }
    }

    func send(
        _ method: HTTPMethod, _ url: String, _ headers: HTTPHeaders = [:], _ body: JSON? = nil
    ) async throws(TransportError) -> Answer {
        var request = HTTPRequest(method, url, headers: headers, body: body?.bytes() ?? [])
        if body != nil { request.headers["Content-Type"] = "application/json" }
        let clock = ContinuousClock()
        let start = clock.now
        let response = try await transport.send(request, within: options.patience)
        return Answer(
            status: response.status, headers: response.headers, body: response.body, duration: clock.now - start)
    }

    /// Whether a server answers at an address, with TLS where it is needed, and by which clock.
    ///
    /// - Returns: Whether it answers.
    func reach(_ url: String, _ findings: Findings, name: String = "address") async -> Bool {
        do throws(TransportError) {
            let answer = try await send(.get, url)
            if answer.isWebPage {
                findings.add(
                    .wrong(
                        name, "“\(url)” answered with a web page (HTTP \(answer.status))",
                        cure: "check the address, and whether a proxy or a sign-in page of the network answers"))
                return false
            }
            findings.add(.fine(name, "“\(url)” answers, in \(answer.duration.formatted)"))
            findings.add(tls(of: url))
            if let date = answer.headers["Date"].flatMap({ HTTPDate.parse($0, now: options.now().seconds) }) {
                findings.add(ClockCheck.finding(here: options.now().seconds, there: date))
            }
            return true
        } catch {
            findings.add(failure(error, url, name))
            return false
        }
    }

    private func tls(of url: String) -> Finding {
        if url.hasPrefix("https://") { return .fine("tls", "the certificate is valid") }
        let isHere = (try? URLParts(validating: url))?.isLoopback == true
        return isHere
            ? .fine("tls", "not needed on this machine")
            : .remark(
                "tls", "“\(url)” is plain HTTP: whoever is in this network can read everything", cure: "use https://")
    }

    private func failure(_ error: TransportError, _ url: String, _ name: String) -> Finding {
        let isHere = (try? URLParts(validating: url))?.isLoopback == true
        switch error.code {
        case .untrustedPeer:
            return .wrong(
                "tls", "“\(url)”: \(error.message)",
                cure:
                    "sudo apt-get install ca-certificates, set the clock, and check whether a proxy answers in its place"
            )
        case .tlsFailed:
            return .wrong(
                "tls", "“\(url)”: \(error.message)",
                cure: isHere
                    ? "write http:// in place of https://: local servers have no TLS" : "check address and proxy")
        case .hostNotFound:
            return .wrong(
                name, error.message, cure: "check the address and the network; a paused project has no address")
        case .cannotConnect, .connectDeadlineExceeded:
            let port = (try? URLParts(validating: url))?.port.map { " --port \($0)" } ?? ""
            return .wrong(
                name, error.message,
                cure: isHere
                    ? "start the local server: switchyard emulator \(serverName)\(port)"
                    : "check the network and the firewall")
        case .connectionLost, .badResponse:
            // A server without TLS answers a handshake with something else, or not at all.
            guard url.hasPrefix("https://"), isHere else { fallthrough }
            return .wrong(
                "tls", "“\(url)”: \(error.message)",
                cure: "write http:// in place of https://: local servers have no TLS")
        default: return .wrong(name, "“\(url)”: \(error.message)", cure: "check the address and the network")
        }
    }

    /// Which local server would be at the address.
    var serverName = "all"
}

/// This device's clock against a server's.
enum ClockCheck {
    static func finding(here: Int64, there: Int64) -> Finding {
        let difference = here - there
        guard abs(difference) > 60 else { return .fine("clock", "as the server's, within a minute") }
        return .wrong(
            "clock",
            "this device's clock is \(ProgressState.time(Double(abs(difference)))) \(difference > 0 ? "ahead of" : "behind") "
                + "the server's; tokens are refused", cure: Cure.clock)
    }
}

extension Duration {
    /// `12 ms`
    var formatted: String { "\(Int((self / .milliseconds(1)).rounded())) ms" }
}
