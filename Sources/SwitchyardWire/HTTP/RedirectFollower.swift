/// Decides after each answer whether and how to follow a redirect. Pure.
package struct RedirectFollower: Sendable {
    /// The request to send now.
    package private(set) var request: HTTPRequest
    /// Whether the original body is still sent.
    package private(set) var sendsBody = true
    private var followed = 0

    package init(_ request: HTTPRequest) {
        self.request = request
    }

    /// Handles an answer: returns `true` if `request` is now the next one to send, `false` if this is the final answer.
    ///
    /// A redirect to another origin drops everything that may identify the caller. 301 and 302 turn POST into GET, 303 turns
    /// everything but HEAD into it, as in browsers; 307 and 308 keep the method and the body.
    ///
    /// - Parameter hasBody: Whether there is a body to send again; `isReplayable` says whether that is possible.
    /// - Throws: `.tooManyRedirects`, or `.redirectRefused` for a redirect that must not be followed.
    package mutating func follow(
        _ head: HTTPResponseHead, hasBody: Bool, isReplayable: Bool = true
    ) throws(TransportError) -> Bool {
        guard case .follow(let limit) = request.redirects, [301, 302, 303, 307, 308].contains(head.status),
            let location = head.headers["Location"], !location.isEmpty
        else { return false }
        guard followed < limit else {
            throw TransportError(.tooManyRedirects, "more than \(limit) redirects", mayHaveBeenSent: true)
        }
        let old = try URLParts(validating: request.url)
        guard let target = old.resolving(location), let new = try? URLParts(validating: target) else {
            throw Self.refused("a redirect leads to no valid address")
        }
        guard new.scheme == "https" || (new.scheme == "http" && old.scheme == "http") else {
            throw Self.refused("a redirect leads from https to \(new.scheme == "http" ? "http" : "another scheme")")
        }
        if becomesGet(head.status) {
            request.method = .get
            request.body = []
            request.isIdempotent = true
            request.headers = request.headers.dropping(Self.describingBody)
            sendsBody = false
        } else if hasBody, sendsBody {
            guard old.origin == new.origin else {
                throw Self.refused("a redirect would carry the body to another origin")
            }
            guard isReplayable else {
                throw Self.refused("a redirect asks for a body that cannot be produced again")
            }
        }
        if old.origin != new.origin { request.headers = request.headers.keeping(Self.harmless) }
        request.url = target
        followed += 1
        return true
    }

    private func becomesGet(_ status: Int) -> Bool {
        switch status {
        case 301, 302: request.method == .post
        case 303: request.method != .head && request.method != .get
        default: false
        }
    }

    private static func refused(_ message: String) -> TransportError {
        TransportError(.redirectRefused, message, mayHaveBeenSent: true)
    }

    private static let describingBody = ["Content-Type", "Content-Encoding", "Content-Language", "Content-Location"]
    /// The fields that another origin may see. A list of sensitive ones would miss the next vendor's key.
    private static let harmless = [
        "Accept", "Accept-Language", "Accept-Encoding", "Content-Type", "Content-Encoding", "User-Agent", "Range",
        "If-Match", "If-None-Match", "If-Range", "If-Modified-Since", "Cache-Control",
    ]
}

extension HTTPHeaders {
    fileprivate func keeping(_ names: [String]) -> HTTPHeaders {
        HTTPHeaders(filter { field in names.contains { field.name.isSameHeaderName(as: $0) } })
    }

    fileprivate func dropping(_ names: [String]) -> HTTPHeaders {
        HTTPHeaders(filter { field in !names.contains { field.name.isSameHeaderName(as: $0) } })
    }
}

/// How to handle a redirect.
package enum RedirectPolicy: Sendable, Hashable {
    /// Follows at most `limit` redirects.
    case follow(limit: Int)
    /// Returns the redirect as the answer.
    case surface
}
