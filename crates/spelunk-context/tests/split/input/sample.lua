--[[ A cave,
import nothing ]]
local json = require("json")

-- Enters.
local function enter(cave, room)
  cave[room] = (cave[room] or 0) + 1
end

function leave(cave, room)
  cave[room] = nil
  if next(cave) == nil then
    print("empty")
  end
end

-- Counts.
-- Slowly.
function count(cave)
  local n = 0
  for _ in pairs(cave) do
    n = n + 1
  end
  return n
end

function show(cave)
  print(json.encode(cave))
end

return { enter = enter }
