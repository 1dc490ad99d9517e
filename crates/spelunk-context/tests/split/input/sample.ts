import { a } from "./a";
import type { B } from "./b";

export interface Room {
  name: string;
}

export class Cave {
  private rooms: Room[] = [];

  add(room: Room): void {
    this.rooms.push(room);
  }

  names(): string[] {
    return this.rooms.map((room) => room.name);
  }

  find(name: string): Room | undefined {
    for (const room of this.rooms) {
      if (room.name === name) {
        return room;
      }
    }
    return undefined;
  }

  clear(): void {
    this.rooms = [];
    a();
  }

  size(): number {
    return this.rooms.length;
  }

  each(visit: (room: Room) => void): void {
    for (const room of this.rooms) {
      visit(room);
    }
  }

  toString(): string {
    return this.names().join(", ");
  }
}

export const make = (b: B): Cave => {
  const cave = new Cave();
  cave.add({ name: String(b) });
  return cave;
};
