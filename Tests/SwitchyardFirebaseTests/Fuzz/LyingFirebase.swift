import SwitchyardTestSupport
import SwitchyardWire
import Testing

extension LyingTransport.Service {
    /// Firebase's services, told apart by what their addresses end with.
    static let firebase = LyingTransport.Service(errors: [
        #"{"error":{"code":400,"message":"TOKEN_EXPIRED"}}"#, #"{"error":{"message":null,"status":"UNKNOWN"}}"#,
        #"[{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]"#, #"{"error":[]}"#,
        #"{"error":{"code":401,"message":"x","status":"UNAUTHENTICATED"}}"#,
        #"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x"}}"#, #"{"error":{"message":":::"}}"#,
    ]) { request in
        let address = request.url.split(separator: "?", maxSplits: 1).map(String.init)
        if address[0].hasSuffix("/channel") {
            if request.url.contains("TYPE=terminate") { return "channel: terminate" }
            return request.method == .get ? "channel: back" : request.url.contains("SID=") ? "channel: on" : "channel"
        }
        if let command = request.headers["X-Goog-Upload-Command"] { return "upload: \(command)" }
        if let name = address[0].split(separator: "/").last?.split(separator: ":").dropFirst().last {
            return ":\(name)"
        }
        let kinds = ["installations", "registrations", "token", "o"]
        let kind = address[0].split(separator: "/").last { kinds.contains(String($0)) }
        return "\(request.method) \(kind ?? "?")" + (request.url.contains("alt=media") ? " media" : "")
    }
}

extension LyingRun {
    init(_ seed: UInt64) {
        self.init(seed, .firebase) { Issue.record(Comment(rawValue: $0)) }
    }
}
