import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardPage
import SwitchyardProviderHTTP
import SwitchyardTestSupport
import SwitchyardWire

/// A page on a local Firebase, and a browser that shows it.
struct BrowserBed: Sendable {
    let firebase: LocalFirebase
    let bed: PageBed
    let browser: Chromium

    static func run(
        _ options: LocalFirebaseOptions = LocalFirebaseOptions(), _ body: (BrowserBed) async throws -> Void
    ) async throws {
        let firebase = try LocalFirebase(options)
        let bed = try PageBed([try await .local(firebase)], backend: "firebase")
        do {
            try await withChromium { try await body(BrowserBed(firebase: firebase, bed: bed, browser: $0)) }
        } catch {
            await bed.stop()
            await firebase.stop()
            throw error
        }
        await bed.stop()
        await firebase.stop()
    }

    /// A tab on the page.
    func tab(_ place: String = "data", width: Int = 1280, height: Int = 800) async throws -> Tab {
        let tab = try await Tab(browser, width: width, height: height)
        try await tab.open("\(bed.base)/#/firebase/\(place)")
        return tab
    }

    func write(_ path: String, _ data: JSON) async throws {
        try await bed.call(.post, "write", ["kind": "set", "path": .string(path), "data": data])
    }

    /// The data of a document, without kinds.
    func document(_ path: String) async throws -> JSON? {
        let found = try await bed.call(.post, "get", ["path": .string(path)])
        return found["exists"] == true ? found["data"] : nil
    }

    func eventually(_ path: String, has field: String, _ value: JSON) async throws {
        try await SwitchyardTestSupport.eventually("\(path) has \(field) = \(value.text())", within: .seconds(30)) {
            try await document(path)?[field] == value
        }
    }

    /// A request to the local server, as an app of this user sends it; `nil` is signed out.
    @discardableResult
    func send(_ method: HTTPMethod, _ path: String, as user: String?, _ body: JSON? = nil) async throws -> HTTPResponse
    {
        var request = HTTPRequest(method, "http://\(firebase.host)" + path)
        if let user { request.headers["Authorization"] = "Bearer " + firebase.idToken(for: user) }
        if let body { request.body = body.bytes() }
        return try await bed.transport.send(request)
    }

    static let documents = "/v1/projects/demo-switchyard/databases/(default)/documents"
    static let toolkit = "/identitytoolkit.googleapis.com/v1/accounts"

    /// Writes many documents as an app's server would: not through the page.
    func fill(_ collection: String, count: Int) async throws {
        let cities = ["Ulm", "Bonn", "Lyon", "Oslo", "Porto"]
        let root = "projects/\(firebase.project)/databases/(default)/documents"
        for start in stride(from: 0, to: count, by: 500) {
            let writes = (start..<min(start + 500, count)).map { number -> String in
                let id = String("00000\(number)".suffix(6))
                return """
                    {"update":{"name":"\(root)/\(collection)/p\(id)","fields":{"name":{"stringValue":"Person \(id)"},\
                    "city":{"stringValue":"\(cities[number % cities.count])"},"number":{"integerValue":"\(number)"},\
                    "score":{"doubleValue":\(Double(number % 1000) / 8)},"isActive":{"booleanValue":\(number % 3 != 0)},\
                    "joined":{"timestampValue":"2026-05-01T09:41:00Z"}}}}
                    """
            }
            var request = HTTPRequest(.post, "http://\(firebase.host)/v1/\(root):commit")
            request.headers["Authorization"] = "Bearer owner"
            request.headers["Content-Type"] = "application/json"
            request.body = Array("{\"writes\":[\(writes.joined(separator: ","))]}".utf8)
            let answer = try await bed.transport.send(request)
            guard answer.status == 200 else {
                throw PageBed.Refusal(status: answer.status, text: String(decoding: answer.body, as: UTF8.self))
            }
        }
    }
}
