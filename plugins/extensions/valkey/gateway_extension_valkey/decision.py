"""The script that decides on a call: it counts the call, unless a limit is reached.

The server runs a script as one step, and by its own clock, so gateways whose clocks differ
count alike. https://valkey.io/topics/eval-intro/
"""

MINUTE = 60.0
LEASE = 30.0
"""Seconds after which a call under way counts no longer unless its gateway has renewed it: the
gateway may have been killed."""

SCRIPT = """
local requests, tokens, sum, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, most_requests, most_tokens, most_calls =
    ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- What the gateway has to say: kind, id, age in milliseconds, amount. Each entry has an id, so
-- one that is sent twice counts once.
for i = 5, #ARGV, 4 do
    local kind, entry, age, amount = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3]
    if kind == 'request' then
        redis.call('ZADD', requests, 'NX', now - age, entry)
        redis.call('PEXPIRE', requests, 60000)
    elseif kind == 'tokens' then
        if redis.call('ZADD', tokens, 'NX', now - age, entry .. ' ' .. amount) == 1 then
            redis.call('INCRBY', sum, amount)
        end
        redis.call('PEXPIRE', tokens, 60000)
        redis.call('PEXPIRE', sum, 60000)
    elseif kind == 'call' then
        redis.call('ZADD', calls, now + 30000, entry)
        redis.call('PEXPIRE', calls, 30000)
    elseif kind == 'left' then
        redis.call('ZREM', calls, entry)
    elseif kind == 'withdrawn' then
        redis.call('ZREM', requests, entry)
        redis.call('ZREM', calls, entry)
    end
end
if id == '' then
    return {'', 0, 0}
end

if most_tokens then
    for _, entry in ipairs(redis.call('ZRANGEBYSCORE', tokens, '-inf', now - 60000)) do
        redis.call('DECRBY', sum, string.match(entry, '%d+$'))
    end
    redis.call('ZREMRANGEBYSCORE', tokens, '-inf', now - 60000)
    local used = tonumber(redis.call('GET', sum) or '0')
    if used >= most_tokens then
        -- The next call is admitted when enough of the tokens have left the minute.
        local left, first, wait = used, 0, 0
        while left >= most_tokens do
            local some = redis.call('ZRANGE', tokens, first, first + 99, 'WITHSCORES')
            if #some == 0 then break end
            for i = 1, #some, 2 do
                left = left - tonumber(string.match(some[i], '%d+$'))
                wait = some[i + 1] + 60000 - now
                if left < most_tokens then break end
            end
            first = first + 100
        end
        return {'tokens', used, wait}
    end
end
if most_requests then
    redis.call('ZREMRANGEBYSCORE', requests, '-inf', now - 60000)
    local used = redis.call('ZCARD', requests)
    if used >= most_requests then
        local place = used - most_requests
        local oldest = redis.call('ZRANGE', requests, place, place, 'WITHSCORES')
        return {'requests', used, oldest[2] + 60000 - now}
    end
end
if most_calls then
    redis.call('ZREMRANGEBYSCORE', calls, '-inf', now)
    local used = redis.call('ZCARD', calls)
    if used >= most_calls then
        return {'at_once', used, 1000}
    end
    redis.call('ZADD', calls, now + 30000, id)
    redis.call('PEXPIRE', calls, 30000)
end
if most_requests then
    redis.call('ZADD', requests, now, id)
    redis.call('PEXPIRE', requests, 60000)
end
return {'', 0, 0}
"""
